// SPDX-License-Identifier: GPL-2.0-only

#ifndef DOMAIN_MAIL_H
#define DOMAIN_MAIL_H

#include "message-book.h"

#include "ns3/event.h"
#include "ns3/frame.h"

#include <algorithm>
#include <vector>

namespace ns3
{
namespace fabric
{

/**
 * @ingroup fabric
 * @brief What one domain tells another in one window, in the order in which it happened.
 *
 * Written by one domain in one window and read by one in the next, so it needs no lock.
 */
struct DomainMail
{
    /// A frame on a link that crosses, by value: each domain has a pool of its own.
    struct Letter
    {
        uint64_t timePs; ///< When it arrives [ps]
        PortId from;     ///< Egress that it left
        Frame frame;
    };

    /// The note of a frame.
    struct Enclosure
    {
        FrameNote note;
        std::vector<IntHop> hops;
    };

    std::vector<Letter> frames;
    std::vector<Enclosure> notes; ///< Of those among the frames that are noted
    std::vector<Fulfilled> fulfilled;
    uint64_t firstPs{NEVER_PS}; ///< Before this nothing of it happens [ps]

    /// Something of it happens at this time [ps].
    void Expect(uint64_t timePs)
    {
        firstPs = std::min(firstPs, timePs);
    }

    void Clear()
    {
        frames.clear();
        notes.clear();
        fulfilled.clear();
        firstPs = NEVER_PS;
    }
};

} // namespace fabric
} // namespace ns3

#endif // DOMAIN_MAIL_H
