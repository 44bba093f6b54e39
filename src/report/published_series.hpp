#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "report/session_report.hpp"

namespace whet {

/// What was measured after the choice: the winner, what it was compared with, peers.
struct PublishedSeries {
  std::string name;
  std::size_t colour = 0;              ///< 0: the winner's; 1: another of ours; 2 and on: peers
  std::optional<TimeSummary> time_ns;  ///< as published
  std::vector<SampleBlock> blocks;     ///< at least one, each with samples; num_steps 0: not kept
};

/// The winner first, then the others in the order in which they were measured. Empty where nothing
/// was measured after the choice.
std::vector<PublishedSeries> published_series(const SessionReport& report);

/// All times, ns a step.
std::vector<double> times_ns(const PublishedSeries& series);
/// The same by process, in the order in which they were taken.
std::map<std::int64_t, std::vector<double>> times_by_process(const PublishedSeries& series);

/// The blocks of peers, which a session keeps with its decision; by name, in their order.
std::vector<std::pair<std::string, SampleBlock>> peer_blocks(const Decision& decision);

}  // namespace whet
