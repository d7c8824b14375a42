// SPDX-License-Identifier: GPL-2.0-only

#ifndef DOMAIN_OUTBOX_H
#define DOMAIN_OUTBOX_H

#include "ns3/boundary.h"

#include <algorithm>
#include <array>
#include <vector>

namespace ns3
{
namespace fabric
{

/**
 * @ingroup fabric
 * @brief What one domain tells another in one window, in the order in which it happened.
 *
 * Written by one domain in one window and read by one in the next, so it needs no lock; on cache
 * lines of its own, so neither waits for the other's writes.
 */
struct alignas(64) DomainOutbox
{
    /// When and where a frame arrives.
    struct Delivery
    {
        uint64_t timePs; ///< Of the engines' clocks [ps]
        PortId to;
    };

    /// A frame on a link that crosses, by value: each domain has a pool of its own.
    struct SentFrame
    {
        Delivery delivery;
        Frame frame; ///< If it is noted or has hops, `next` is the index of these
    };

    /// The note and the hops of a frame that has either.
    struct SentNote
    {
        FrameNote note;
        uint32_t firstHop; ///< Index into hops
    };

    std::array<std::vector<SentFrame>, Boundary::LISTS> lanes; ///< Frames of one delay: by time
    std::vector<SentFrame> loose;                              ///< All others
    std::vector<SentNote> notes;
    std::vector<IntHop> hops;
    std::vector<Fulfilled> fulfilled;
    std::vector<PortId> lost;          ///< A frame was lost on its way to each of these ports
    WorldPs firstPs{WorldPs::Never()}; ///< Before this nothing of it happens [ps]

    /// Something of it happens at this time [ps].
    void Expect(WorldPs timePs)
    {
        firstPs = std::min(firstPs, timePs);
    }

    bool IsEmpty() const
    {
        return firstPs == WorldPs::Never() && lost.empty();
    }

    void Clear()
    {
        std::ranges::for_each(lanes, [](auto& sent) { sent.clear(); });
        loose.clear();
        notes.clear();
        hops.clear();
        fulfilled.clear();
        lost.clear();
        firstPs = WorldPs::Never();
    }
};

} // namespace fabric
} // namespace ns3

#endif // DOMAIN_OUTBOX_H
