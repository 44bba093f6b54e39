#include "timing/interleaving.hpp"

#include <numeric>
#include <utility>

#include "base/philox.hpp"

namespace whet {

std::vector<int> interleaved_order(int num_subjects, int num_rounds, std::uint64_t seed) {
  std::vector<int> order;
  for (int round = 0; round < num_rounds; ++round) {
    std::vector<int> subjects(static_cast<std::size_t>(num_subjects));
    std::iota(subjects.begin(), subjects.end(), 0);
    const Philox random(seed, static_cast<std::uint64_t>(round));
    for (std::size_t i = subjects.size(); i > 1; --i) {
      const auto j = static_cast<std::size_t>(random.uniform(i) * static_cast<double>(i));
      std::swap(subjects[i - 1], subjects[j]);
    }
    order.insert(order.end(), subjects.begin(), subjects.end());
    order.insert(order.end(), subjects.rbegin(), subjects.rend());
  }
  return order;
}

}  // namespace whet
