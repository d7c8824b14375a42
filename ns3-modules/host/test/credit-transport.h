// SPDX-License-Identifier: GPL-2.0-only

#ifndef CREDIT_TRANSPORT_H
#define CREDIT_TRANSPORT_H

#include "ns3/credit-pacer.h"
#include "ns3/message-transport.h"

#include <algorithm>
#include <map>
#include <optional>

namespace ns3
{
namespace tests
{

using namespace fabric;

/// State of a CreditTransport's message at its source.
struct CreditOutbound : Outbound
{
    uint64_t creditBytes{0}; ///< Granted and not used [byte]
    uint64_t freeBytes{0};   ///< May be sent without credit, at a low priority [byte]
};

/// State of a CreditTransport's message at its destination.
struct CreditInbound : Inbound
{
    bool wants{false}; ///< The request has come
};

/**
 * @brief Receiver-driven: a request, one window without credit, the rest as it is granted.
 *
 * In the manner of EQDS (Olteanu et al., NSDI 2022); made to use every part of the base.
 */
class CreditTransport final : public MessageTransport<CreditOutbound, CreditInbound>
{
  public:
    static constexpr uint8_t REQUEST = FAMILY;
    static constexpr uint8_t CREDIT = FAMILY + 1;
    static constexpr uint8_t LOW_PRIORITY = 2;
    static constexpr uint64_t REQUEST_AGAIN_PS = 200'000'000;

    static inline uint32_t requests = 0;

    static TypeId GetTypeId()
    {
        static TypeId tid =
            AddAttributes(TypeId("ns3::tests::CreditTransport")
                              .SetParent<PacketTransport>()
                              .SetGroupName("Tests")
                              .AddConstructor<CreditTransport>(),
                          {.entropy = "ns3::FlowEntropy", .rto = "4ms", .reorderPackets = 100});
        return tid;
    }

    Traits GetTraits() const override
    {
        Traits traits = MessageTransport::GetTraits();
        traits.variesUrgency = true;
        return traits;
    }

  private:
    void DoAttach() override
    {
        MessageTransport::DoAttach();
        m_credit.emplace(CreditPacer::Rules{.quantumBytes = m_mtuBytes,
                                            .order = FlowOrder::By::ROUND_ROBIN,
                                            .rateBps = 95'000'000'000});
    }

    void Begin(CreditOutbound& out) override
    {
        out.freeBytes = 4 * m_mtuBytes;
        Request(out);
    }

    void Request(CreditOutbound& out)
    {
        requests++;
        const FrameId request = MakeControl(out.message, REQUEST, m_ackBytes);
        Host().Note(request).words[0] = RemainingBytes(out);
        Host().SendControl(request, out.port);
        SetDeadline(out, FAMILY_DEADLINE, Host().NowPs() + REQUEST_AGAIN_PS);
    }

    void OnDeadline(CreditOutbound& out) override
    {
        if (out.creditBytes == 0 && out.packets.InFlight() == 0)
        {
            Request(out);
        }
    }

    bool MaySend(const CreditOutbound& out) const override
    {
        return out.creditBytes > 0 || out.freeBytes > 0;
    }

    uint8_t PriorityOf(const CreditOutbound& out) const override
    {
        return out.creditBytes > 0 ? m_priority : LOW_PRIORITY;
    }

    void Stamp(CreditOutbound& out, FrameId data, PortId) override
    {
        const Frame& frame = Host().GetFrame(data);
        const uint64_t bytes =
            Cut().PayloadBytes(Host().GetMessage(out.message).bytes, frame.packet);
        uint64_t& purse = frame.priority == m_priority ? out.creditBytes : out.freeBytes;
        purse -= std::min(bytes, purse);
    }

    void OnControl(CreditOutbound& out, FrameId control) override
    {
        out.creditBytes += Host().FindNote(control)->words[0];
        SetDeadline(out, FAMILY_DEADLINE, Host().NowPs() + REQUEST_AGAIN_PS);
        Wake(out);
    }

    void OnRequest(CreditInbound& in, FrameId control, PortId port) override
    {
        m_portOf[in.slot] = port;
        m_messageOf[in.slot] = in.message;
        if (!in.wants)
        {
            in.wants = true;
            m_credit->Want(in.slot, Host().FindNote(control)->words[0]);
            HandOut();
        }
    }

    void OnTrimmed(CreditInbound& in, FrameId header, PortId port) override
    {
        m_credit->Want(in.slot, m_mtuBytes); // it has to come once more
        MessageTransport::OnTrimmed(in, header, port);
        HandOut();
    }

    void OnDelivered(CreditInbound& in) override
    {
        if (in.wants)
        {
            m_credit->Forget(in.slot);
        }
    }

    void OnHostTimer() override
    {
        HandOut();
    }

    void HandOut()
    {
        while (const auto credit = m_credit->Take(Host().NowPs()))
        {
            const FrameId grant = MakeControl(m_messageOf[credit->flow], CREDIT, m_ackBytes);
            Host().Note(grant).words[0] = credit->bytes;
            Host().SendControl(grant, m_portOf[credit->flow]);
        }
        if (const uint64_t nextPs = m_credit->NextPs(); nextPs != NEVER_PS)
        {
            SetHostTimer(std::max(nextPs, Host().NowPs() + 1));
        }
    }

    std::optional<CreditPacer> m_credit;
    std::map<uint32_t, PortId> m_portOf;      ///< By slot at the destination
    std::map<uint32_t, uint32_t> m_messageOf; ///< By slot at the destination
};

NS_OBJECT_ENSURE_REGISTERED(CreditTransport);

} // namespace tests
} // namespace ns3

#endif // CREDIT_TRANSPORT_H
