// SPDX-License-Identifier: GPL-2.0-only

#ifndef HOST_SELECTIVE_ANSWERS_H
#define HOST_SELECTIVE_ANSWERS_H

#include "flow-ends.h"

#include "ns3/frame.h"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace ns3
{
namespace fabric
{

/**
 * @ingroup host
 * @brief Answers for several packets: the first missing one, a bitmap of 64, and a count.
 *
 * The count of all packets that have arrived is what leaves the window of the source, even of those
 * that no bitmap has shown yet.
 *
 * **Source** Ultra Ethernet specification 1.0, section 3.5.12; what it leaves open as in its
 * simulator (uet-htsim, uec.cpp).
 */
namespace selective
{

constexpr uint16_t ASKS = frame_flag::FREE; ///< Flag of a packet that asks for an answer at once

/// Words of the note of an answer; the upper halves of FROM and COUNT are free.
enum Word : uint8_t
{
    BITMAP = 0, ///< What has arrived from FROM on
    FROM = 1,   ///< Packet
    COUNT = 2,  ///< Packets that have arrived
};

/// What a destination keeps of a message between two answers.
struct Unanswered
{
    uint32_t arrivedPackets{0}; ///< Copies not counted
    uint32_t bytes{0};          ///< Came since the last answer [byte]
    bool isAsked{false};        ///< For an answer when no hole is left
};

/**
 * Take in a packet that has arrived.
 * @return whether it is to be answered at once: the first, a marked one, a copy, one that asks,
 * the last that was missing before one that asked, and one with which so many bytes have come
 */
bool IsDue(Unanswered& state, const Frame& data, const PacketWindow& received, uint32_t everyBytes);

/// @return after how many packets of this length an answer is due, if nothing else asks for one
constexpr uint32_t
PacketsPerAnswer(uint32_t everyBytes, uint32_t packetBytes)
{
    return std::max(1U, (everyBytes + packetBytes - 1) / packetBytes);
}

/// Write into the note of a packet, which is to be its own answer, what has arrived.
void Write(FrameNote& note, const Frame& data, const PacketWindow& received);

/**
 * Take in an answer at the source: add to its newPackets all that is news.
 * @param out the message
 * @param note of the answer, null if it has none
 * @param answer what is known of it
 * @param learn called with each packet of the bitmap; returns whether its arrival is news
 */
template <typename Learn>
void
Read(Outbound& out, const FrameNote* note, Answer& answer, Learn&& learn)
{
    uint32_t count = answer.cumulative;
    if (note && answer.cumulative < out.packets.Packets())
    {
        for (uint64_t bits = note->words[BITMAP]; bits != 0; bits &= bits - 1)
        {
            const auto place = static_cast<uint32_t>(std::countr_zero(bits));
            const auto from = static_cast<uint32_t>(note->words[FROM]);
            answer.newPackets += learn(from + place);
        }
        count = static_cast<uint32_t>(note->words[COUNT]);
    }
    const auto& packets = out.packets;
    const uint32_t known = packets.Next() - packets.ToResend() - packets.InFlight();
    const uint32_t counted = known - answer.newPackets + out.unseenPackets;
    const uint32_t unseen = std::max({count, counted, known}) - known;
    answer.newPackets = answer.newPackets + unseen - out.unseenPackets;
    out.unseenPackets = unseen;
}

} // namespace selective
} // namespace fabric
} // namespace ns3

#endif // HOST_SELECTIVE_ANSWERS_H
