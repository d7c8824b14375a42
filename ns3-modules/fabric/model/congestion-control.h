// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_CONGESTION_CONTROL_H
#define FABRIC_CONGESTION_CONTROL_H

#include "ns3/object.h"

#include <cstdint>

namespace ns3
{
namespace fabric
{

/**
 * @ingroup fabric
 * @brief Contract: window and rate of one flow of a sender-driven transport.
 *
 * One object per flow. The transport asks WindowBytes and RateBps before each packet and reports
 * everything that happens; times are absolute simulated times.
 */
class CongestionControl : public Object
{
  public:
    /// What the path of a flow is like when nobody else is there.
    struct Path
    {
        uint64_t lineRateBps; ///< Rate of the host's link [bit/s]
        uint64_t baseRttPs;   ///< Round trip of a full packet and its acknowledgement [ps]
        uint32_t mtuBytes;    ///< Payload of a full packet [byte]
    };

    /// What an acknowledgement says.
    struct Ack
    {
        uint64_t nowPs;      ///< When it came [ps]
        uint64_t rttPs;      ///< Age of the packet it answers [ps]
        uint64_t ackedBytes; ///< Payload newly acknowledged [byte]
        uint32_t packet;     ///< Packet that caused it
        bool marked;         ///< That packet was ECN-marked
    };

    static TypeId GetTypeId();

    virtual void Start(uint64_t nowPs, const Path& path) = 0; ///< The flow begins
    virtual void OnSent(uint64_t nowPs, uint32_t bytes);      ///< A packet left [byte]
    virtual void OnAck(const Ack& ack) = 0;                   ///< An acknowledgement came
    virtual void OnNotification(uint64_t nowPs);              ///< A congestion notification came
    virtual void OnLoss(uint64_t nowPs, bool timeout);        ///< A packet is taken for lost
    virtual uint64_t NextUpdatePs() const;                    ///< When OnUpdate is due [ps]
    virtual void OnUpdate(uint64_t nowPs);                    ///< The time of NextUpdatePs has come

    virtual uint64_t WindowBytes() const = 0; ///< Payload allowed in flight [byte]
    virtual uint64_t RateBps() const = 0;     ///< Rate on the wire [bit/s]
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_CONGESTION_CONTROL_H
