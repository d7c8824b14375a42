// SPDX-License-Identifier: GPL-2.0-only

#ifndef UEC_FLOWS_H
#define UEC_FLOWS_H

#include "ns3/selective-answers.h"

#include <optional>
#include <utility>

namespace ns3
{

/// What frames of the Ultra Ethernet transport say beside the fields of all frames.
namespace uec
{
constexpr uint16_t ASKS = fabric::selective::ASKS;
constexpr uint16_t STARVES = ASKS << 1; ///< Credit was waited for too long
/// Bits in which a packet carries UecOutbound::rewinds, which its answer returns
constexpr uint16_t REWINDS = static_cast<uint16_t>(~(2 * STARVES - 1));

/// Word of the note of data and pulls: credit wanted or given, counted from the beginning [byte].
/// An acknowledgement has those of fabric::selective.
constexpr uint8_t CREDIT = 0;

/// @return credit as packets and pulls carry it: in units of 256 B, rounded up [byte]
constexpr uint64_t
InCreditUnits(uint64_t bytes)
{
    constexpr uint64_t UNIT_BYTES = 256;
    return (bytes + UNIT_BYTES - 1) / UNIT_BYTES * UNIT_BYTES;
}
} // namespace uec

/// State of a UecTransport's message at its source.
struct UecOutbound : fabric::Outbound
{
    int64_t creditBytes{0};     ///< Not used; one packet may overdraw it [byte]
    int64_t mostCreditBytes{0}; ///< [byte]
    uint64_t pulledBytes{0};    ///< Credit of the last pull, counted from the beginning [byte]
    bool isSpeculating{false};  ///< Nothing was heard of the destination yet
    bool isStarved{false};      ///< The next packet goes without credit, and asks for it
    uint16_t rewinds{0};        ///< How often it went back, modulo what fits into uec::REWINDS
};

/// State of a UecTransport's message at its destination.
struct UecInbound : fabric::DrivenInbound
{
    fabric::selective::Unanswered unanswered;
    uint64_t targetBytes{0};  ///< Credit that it is to have, from the beginning [byte]
    uint64_t grantedBytes{0}; ///< Credit that was given, from the beginning [byte]
    /// First missing packet, and uec::REWINDS of what came behind it, of the last gap reported
    std::optional<std::pair<uint32_t, uint16_t>> reported;
};

} // namespace ns3

#endif // UEC_FLOWS_H
