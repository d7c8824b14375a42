// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_EPISODE_H
#define FABRIC_EPISODE_H

#include <compare>
#include <cstdint>
#include <vector>

namespace ns3
{
namespace fabric
{

/// A message as it begins: what decides what becomes of it.
struct EpisodeStart
{
    uint64_t afterPs; ///< The first of the episode [ps]
    uint32_t src;     ///< Place among the hosts of the island
    uint32_t dst;
    uint64_t bytes;
    uint32_t transport;

    auto operator<=>(const EpisodeStart&) const = default;
};

/// A message of an episode, and what became of it.
struct EpisodeMessage
{
    EpisodeStart start;
    uint64_t deliveredPs;    ///< After the beginning of the episode [ps]
    uint64_t acknowledgedPs; ///< Likewise [ps]
    uint64_t sentPackets;
    uint32_t markedPackets;
    uint32_t outOfOrderPeak;
};

/// By how much counters of a port have grown.
struct EpisodePort
{
    uint64_t sentFrames;
    uint64_t sentBytes; ///< [byte]
    uint64_t sentControl;
    uint64_t receivedFrames;
    uint64_t marked;
    uint64_t maxQueuedBytes; ///< Largest in the episode [byte]
};

/// What happened on an island from one time when nothing was under way to the next.
struct Episode
{
    /// By start, then by source; of two at once at one source in the order in which they began
    std::vector<EpisodeMessage> messages;
    std::vector<EpisodePort> ports;      ///< In the order of the ports of the island
    std::vector<uint64_t> maxUsedBytes;  ///< Of the buffer of each switch [byte]
    uint64_t lengthPs{0};                ///< Until the last acknowledgement [ps]
    uint64_t packets{0};                 ///< Data, all copies
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_EPISODE_H
