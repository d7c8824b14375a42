// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_CONGESTION_CONTROL_H
#define FABRIC_CONGESTION_CONTROL_H

#include "host-context.h"
#include "plugin.h"

#include <cstdint>
#include <limits>
#include <span>

namespace ns3
{
namespace fabric
{

/**
 * @ingroup fabric
 * @brief Contract: window and rate of the flows of a sender-driven transport.
 *
 * One object per transport endpoint; `slot` names one of its flows and is used again after Close.
 * The transport asks WindowBytes and RateBps before each packet and reports everything that
 * happens. Sizes are payload, the rate is that on the wire.
 */
class CongestionControl : public Plugin
{
  public:
    /// What the path of a flow is like when nobody else is there.
    struct Path
    {
        uint64_t lineRateBps; ///< Sum over the host's links that the flow uses [bit/s]
        uint64_t baseRttPs;   ///< Round trip of a full packet and its acknowledgement [ps]
        uint32_t mtuBytes;    ///< Payload of a full packet [byte]
        uint32_t headerBytes; ///< What a frame has beside payload, framing included [byte]
        uint32_t hops;        ///< Links on the way
    };

    /// What an acknowledgement says.
    struct Ack
    {
        uint64_t rttPs;               ///< Age of the packet it answers [ps]
        uint64_t arrivedBytes;        ///< Payload that this answer is the first to report [byte]
        uint64_t markedBytes;         ///< Of these, in packets known to be ECN-marked [byte]
        uint64_t lostBytes;           ///< Payload that this answer shows to be lost [byte]
        uint64_t inFlightBytes;       ///< Left after this answer [byte]
        uint32_t packet;              ///< Packet that caused it
        uint32_t nextPacket;          ///< First packet that was never sent
        std::span<const IntHop> hops; ///< What switches wrote into that packet
        bool atLastHop{false}; ///< lostBytes were trimmed by the switch next to the destination
        bool isMarked{false};  ///< The packet that caused it was, also if it reports no bytes
    };

    /// How a loss became known.
    enum class Loss
    {
        OVERTAKEN, ///< Later packets arrived
        TRIMMED,   ///< The packet arrived without its payload
        TIMEOUT,   ///< Nothing arrived
    };

    /// What does not change once the attributes are set.
    struct Traits
    {
        bool needsIntHops{false};       ///< It reads Ack::hops, so that switches must write them
        bool needsNotifications{false}; ///< It wants OnNotification: receivers must send CNPs
        bool needsMarks{needsNotifications}; ///< It learns of queues by marks alone
        uint64_t targetPs{0};    ///< A round trip beyond it is congestion, however empty queues
                                 ///< are; 0: there is no such target
        uint64_t hopTargetPs{0}; ///< Added for each link on the way
        bool mayRest{false};     ///< IsAtRest may be true of a flow
    };

    static constexpr uint64_t NO_LIMIT = std::numeric_limits<uint64_t>::max();

    static TypeId GetTypeId();

    virtual Traits GetTraits() const
    {
        return {};
    }

    virtual void Attach(
        HostContext& host); ///< Called once, before anything else; default: keeps it

    virtual void Open(uint32_t slot, const Path& path) = 0;              ///< A flow begins
    virtual void Close(uint32_t slot);                                   ///< A flow has ended
    virtual void OnSent(uint32_t slot, uint32_t packet, uint32_t bytes); ///< Payload [byte]
    virtual void OnAck(uint32_t slot, const Ack& ack) = 0;
    virtual void OnNotification(uint32_t slot);   ///< A notification of congestion (CNP) came
    virtual void OnLoss(uint32_t slot, Loss how); ///< Packets of one window are taken for lost
    virtual uint64_t NextUpdatePs(uint32_t slot) const; ///< When OnUpdate is due, NEVER_PS [ps]
    virtual void OnUpdate(uint32_t slot);               ///< The time of NextUpdatePs has come

    /**
     * @return whether the flow is held back by nothing, and as long as no notification and no loss
     * is reported all calls leave it as it is, however much time goes by. Only if mayRest.
     */
    virtual bool IsAtRest(uint32_t slot) const;

    virtual uint64_t WindowBytes(uint32_t slot) const; ///< Payload in flight, or NO_LIMIT [byte]
    virtual uint64_t RateBps(uint32_t slot) const;     ///< On the wire, > 0, NO_LIMIT [bit/s]

  protected:
    HostContext& Host() const
    {
        return *m_host;
    }

  private:
    HostContext* m_host{nullptr};
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_CONGESTION_CONTROL_H
