#include "stats/binomial_interval.hpp"

#include <boost/math/distributions/binomial.hpp>

#include "base/error.hpp"

namespace whet {

Interval binomial_interval(std::int64_t num_successes, std::int64_t num_trials, double confidence) {
  WHET_CHECK(
      num_trials > 0 && num_successes >= 0 && num_successes <= num_trials,
      "{} successes in {} trials",
      num_successes,
      num_trials
  );
  WHET_CHECK(confidence > 0.0 && confidence < 1.0, "a confidence of {}", confidence);
  using boost::math::binomial;
  const auto trials = static_cast<double>(num_trials);
  const auto successes = static_cast<double>(num_successes);
  const double tail = 0.5 * (1.0 - confidence);
  return {
      .low = binomial::find_lower_bound_on_p(trials, successes, tail),
      .high = binomial::find_upper_bound_on_p(trials, successes, tail)};
}

}  // namespace whet
