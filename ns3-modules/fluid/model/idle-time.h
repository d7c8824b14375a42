// SPDX-License-Identifier: GPL-2.0-only

#ifndef IDLE_TIME_H
#define IDLE_TIME_H

#include <cstdint>
#include <vector>

namespace ns3
{

/**
 * @ingroup fluid
 * @brief How a message becomes frames, as the wire profile of its transport says it.
 *
 * All sizes are those on the wire: with headers and framing, at least 64 bytes of frame.
 */
struct FluidFrames
{
    uint64_t first{0};  ///< First packet, the only one too [byte]
    uint64_t middle{0}; ///< Any between the first and the last [byte]
    uint64_t last{0};   ///< [byte]
    uint64_t packets{0};

    /// @return what the whole message takes of a link [byte]
    uint64_t WireBytes() const
    {
        return packets == 1 ? first : first + (packets - 2) * middle + last;
    }
};

/// One link of a path.
struct FluidHop
{
    uint64_t rateBps;
    uint64_t delayPs;           ///< Propagation [ps]
    uint64_t processingDelayPs; ///< Of the switch at its end, 0 at a host [ps]
};

/// Links that carry a message side by side at one hop of its paths.
struct FluidHopLinks
{
    uint64_t links{0};
    uint64_t rateBps{0};  ///< Of the fastest of them
    double bytesPerPs{0}; ///< All together, if each keeps to its part of the message
    bool areAlike{true};  ///< Equal rates and parts
};

/// @return time of bytes on a wire, rounded up [ps]
uint64_t WirePs(uint64_t bytes, uint64_t rateBps);

/**
 * Time from the start of a message that is alone until its last bit is at its destination.
 *
 * Store and forward: packet k is sent on a link when it is in and packet k - 1 has left. The last
 * bit comes after the longest monotone way through packets and links; all packets but the first
 * and the last are alike, which leaves the links on which the way turns to be tried.
 *
 * **Source** our own; the longest path of a tandem of queues.
 * **Not modelled** Cut-through.
 */
uint64_t UnloadedPs(const FluidFrames& frames, const std::vector<FluidHop>& path);

/**
 * Likewise, of a message that is dealt out evenly over all its paths, without propagation and
 * processing.
 *
 * At each hop four moments are known: when the first frame is through, the last of the full ones,
 * the shorter last frame, and all of them. `pyorch/theory/alone.py` has the same in Python, where
 * unequal links are as fast as their rates added up.
 *
 * **Source** our own.
 * **Not modelled** Cut-through.
 */
uint64_t SpreadPs(const FluidFrames& frames, const std::vector<FluidHopLinks>& hops);

/// @return time of a single frame over a path, in either direction [ps]
uint64_t FramePs(uint64_t wireBytes, const std::vector<FluidHop>& path);

} // namespace ns3

#endif // IDLE_TIME_H
