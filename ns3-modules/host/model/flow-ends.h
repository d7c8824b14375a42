// SPDX-License-Identifier: GPL-2.0-only

#ifndef HOST_FLOW_ENDS_H
#define HOST_FLOW_ENDS_H

#include "deadlines.h"
#include "pacer.h"
#include "packet-ring.h"
#include "packet-window.h"
#include "scoreboard.h"

#include "ns3/congestion-control.h"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace ns3
{
namespace fabric
{

/// What a message may wait for at its source: numbers of its Deadlines.
enum FlowDeadline : size_t
{
    TIMEOUT_DEADLINE, ///< Retransmission timeout
    PACE_DEADLINE,    ///< Its rate allows the next packet
    UPDATE_DEADLINE,  ///< OnUpdate of congestion control
    FAMILY_DEADLINE,  ///< OnDeadline of the family
    NUM_DEADLINES,
};

/// By which port and with which entropy a packet was sent.
struct SentPath
{
    PortId port{NO_PORT};
    uint16_t entropy{0};
};

/**
 * @ingroup host
 * @brief A message at its source. A family derives its own state from it.
 */
struct Outbound
{
    uint32_t slot{0};
    uint32_t message{0};
    PortId port{NO_PORT};            ///< By which all of it leaves, NO_PORT: by any that serves
    uint64_t number{0};              ///< In the order in which the messages of a host began
    uint32_t backoff{0};             ///< Timeouts in a row
    uint32_t reorderPackets{1};      ///< Lost: overtaken by more than this, 0: none is [packet]
    uint32_t lossEnd{0};             ///< Congestion control knows of losses below this packet
    std::optional<uint16_t> entropy; ///< Of a flow that keeps to one path
    uint64_t timeoutFromPs{0};       ///< When the retransmission timeout began to run [ps]
    uint32_t unseenPackets{0};       ///< Arrived, as its destination counts, and not known which
    Scoreboard packets;
    Deadlines<NUM_DEADLINES> deadlines;
    Pacer pacer;             ///< Of what congestion control and admission allow
    uint64_t lineRateBps{0}; ///< Of all its ports; if it may be paced [bit/s]
    uint64_t admittedBps{CongestionControl::NO_LIMIT}; ///< On the wire, whatever is sent [bit/s]
    PacketRing<SentPath> paths;                        ///< If the path selector wants reports

    uint32_t InFlight() const ///< [packet]
    {
        return packets.InFlight() - std::min(packets.InFlight(), unseenPackets);
    }
};

/**
 * @ingroup host
 * @brief A message at its destination. A family derives its own state from it.
 */
struct Inbound
{
    uint32_t slot{0};
    uint32_t message{0};
    uint32_t packets{0};                ///< Of the message
    PacketWindow received;              ///< Its base is the first packet that is missing
    std::optional<uint64_t> notifiedPs; ///< When the last CNP was sent [ps]
};

/**
 * @ingroup host
 * @brief A message at a destination that sends more than answers: what it sends takes the way back
 * of the last packet.
 */
struct DrivenInbound : Inbound
{
    PortId port{NO_PORT}; ///< By which the last packet came
    uint16_t entropy{0};  ///< Of the last packet
};

/// What an acknowledgement, positive or negative, has told the source.
struct Answer
{
    uint32_t packet;      ///< That it answers
    uint32_t cumulative;  ///< All packets below have arrived
    uint16_t flags;       ///< Of the frame: ECN_ECHO, TRIMMED, those of the family
    uint8_t kind;         ///< Of the frame: ACK or NAK
    uint32_t newPackets;  ///< Whose arrival is news
    bool advanced;        ///< The first packet that is missing is another one now
    uint32_t lostPackets; ///< Newly taken for lost
    uint64_t rttPs;       ///< Age of the packet that it answers, 0: nobody asked for it [ps]
    uint64_t newBytes;    ///< Payload of newPackets; with congestion control [byte]
    uint64_t markedBytes; ///< Of newBytes, in a marked packet; with congestion control [byte]
    uint64_t lostBytes;   ///< Payload of lostPackets [byte]
    /// How packets were lost that were sent after congestion control last heard of a loss
    std::optional<CongestionControl::Loss> newLoss;
};

} // namespace fabric
} // namespace ns3

#endif // HOST_FLOW_ENDS_H
