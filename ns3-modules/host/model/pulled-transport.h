// SPDX-License-Identifier: GPL-2.0-only

#ifndef HOST_PULLED_TRANSPORT_H
#define HOST_PULLED_TRANSPORT_H

#include "message-transport.h"

#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3
{
namespace fabric
{

/**
 * @ingroup host
 * @brief Messages that are pulled: a host paces one stream of PULLs for all that come to it.
 *
 * The family says who is pulled next, when, and what a PULL says. A source that may send nothing
 * and has nothing out, so that its retransmission timeout does not run, is asked to help itself
 * after Rto: the PULL that it waits for may be lost.
 *
 * @tparam Out state of a message at its source, derived from Outbound
 * @tparam In state of a message at its destination, derived from DrivenInbound
 */
template <typename Out, typename In>
class PulledTransport : public MessageTransport<Out, In>
{
  public:
    static constexpr uint8_t PULL = PacketTransport::FAMILY;

  protected:
    using PacketTransport::Host;

    static TypeId AddAttributes(TypeId tid,
                                const PacketTransport::Defaults& defaults,
                                uint32_t pullBytes = MIN_FRAME_BYTES)
    {
        return PacketTransport::AddAttributes(tid, defaults)
            .AddAttribute("PullBytes",
                          "PULL frame, headers included [byte]",
                          UintegerValue(pullBytes),
                          MakeUintegerAccessor(&PulledTransport::m_pullBytes),
                          MakeUintegerChecker<uint32_t>(MIN_FRAME_BYTES, 1024));
    }

    /// @return defaults of those whose packets take all paths in turn and are trimmed, not lost
    static PacketTransport::Defaults TrimmedInTurn(const char* rto)
    {
        return {.entropy = "ns3::PermutedEntropy",
                .rto = rto,
                .reorderPackets = 0,
                .reorderHelp = ", 0 = never: trimming tells",
                .controlPriority = NUM_PRIORITIES - 1,
                .ecnCapable = false,
                .trimmable = true};
    }

    // ---- the protocol at the destination

    /// A packet has come, whole or without its payload, and is about to be answered.
    virtual void OnHeard(In& in, FrameId data)
    {
    }

    /// @return who is pulled now, null: nobody may be before NextPullPs
    virtual In* TakePull() = 0;

    /// @return when TakePull may have somebody, NEVER_PS: not before something comes [ps]
    virtual uint64_t NextPullPs() const = 0;

    /// A PULL is about to leave.
    virtual void StampPull(In& in, FrameId pull) = 0;

    // ---- the protocol at the source

    /// Nothing is out and nothing may go: let a packet go without a PULL.
    virtual void OnStarved(Out& out)
    {
    }

    // ---- what a family may call

    void SendPull(In& in) ///< Out of turn
    {
        const FrameId pull = this->MakeControl(in.message, PULL, m_pullBytes);
        StampPull(in, pull);
        this->SendToSource(in, pull);
    }

    void SendPulls() ///< All that may go now, and the next one when it may
    {
        while (In* in = TakePull())
        {
            SendPull(*in);
        }
        if (const uint64_t nextPs = NextPullPs(); nextPs != NEVER_PS)
        {
            this->SetHostTimer(std::max(nextPs, Host().NowPs() + 1));
        }
    }

    void OnPayload(In& in, FrameId data, PortId port, uint32_t expected) override
    {
        this->Hear(in, data, port);
        OnHeard(in, data);
        MessageTransport<Out, In>::OnPayload(in, data, port, expected);
        SendPulls();
    }

    void OnTrimmed(In& in, FrameId header, PortId port) override
    {
        this->Hear(in, header, port);
        OnHeard(in, header);
        MessageTransport<Out, In>::OnTrimmed(in, header, port);
        SendPulls();
    }

    void OnHostTimer() override
    {
        SendPulls();
    }

    Transport::Traits GetTraits() const override
    {
        Transport::Traits traits = MessageTransport<Out, In>::GetTraits();
        traits.spreadsOverPorts = true;
        return traits;
    }

    void OnAnswer(Out& out, const Answer&) override
    {
        if (!out.packets.HasOut())
        {
            this->SetDeadline(out, FAMILY_DEADLINE, Host().NowPs() + this->RtoPs(out));
        }
    }

    void OnDeadline(Out& out) override
    {
        if (!out.packets.HasOut() && !this->MaySend(out))
        {
            OnStarved(out);
            this->Wake(out);
        }
    }

  private:
    uint32_t m_pullBytes{0};
};

} // namespace fabric
} // namespace ns3

#endif // HOST_PULLED_TRANSPORT_H
