// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_EPISODE_RECORDING_H
#define FABRIC_EPISODE_RECORDING_H

#include "episode.h"
#include "islands.h"

#include <optional>
#include <vector>

namespace ns3
{
namespace fabric
{

class Fabric;

/**
 * @ingroup fabric
 * @brief An episode that is executed and written down.
 *
 * Meanwhile the peaks of queues and buffers are those of the episode.
 */
class EpisodeRecording
{
  public:
    /// Nothing is under way on the island. @param fabric, island live longer than this
    EpisodeRecording(Fabric& fabric, const Island& island);

    void Add(uint32_t message); ///< It starts

    /// @return the episode, all of whose messages are acknowledged; none if packets were lost
    std::optional<Episode> Written() const;

    void RestorePeaks(); ///< To those of the run

    /// Count at the ports of an island what happened there in an episode that was replayed.
    static void Count(Fabric& fabric,
                      const Island& island,
                      const Episode& episode,
                      uint64_t times);

  private:
    std::vector<EpisodePort> Counters() const;
    std::optional<EpisodeMessage> Written(uint32_t message) const;

    Fabric* m_fabric;
    const Island* m_island;
    uint64_t m_startPs;                   ///< Of the world [ps]
    std::vector<uint32_t> m_messages;     ///< In the order in which they started
    std::vector<EpisodePort> m_before;    ///< Of each port when it began
    std::vector<uint64_t> m_maxUsedBytes; ///< Of each switch until then [byte]
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_EPISODE_RECORDING_H
