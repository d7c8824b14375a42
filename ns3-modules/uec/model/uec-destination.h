// SPDX-License-Identifier: GPL-2.0-only

#ifndef UEC_DESTINATION_H
#define UEC_DESTINATION_H

#include "oversubscription-control.h"
#include "uec-flows.h"

#include "ns3/credit-pacer.h"
#include "ns3/pulled-transport.h"

#include <optional>

namespace ns3
{

/**
 * @ingroup uec
 * @brief The half of a UecTransport that receives: acknowledgements and credit.
 */
class UecDestination : public fabric::PulledTransport<UecOutbound, UecInbound>
{
  public:
    /// In which order payload is taken.
    enum class Delivery
    {
        UNORDERED, ///< RUD
        ORDERED,   ///< ROD
    };

  protected:
    static TypeId AddAttributes(TypeId tid, const Defaults& defaults);

    void DoAttach() override;

    Traits GetTraits() const override
    {
        Traits traits = PulledTransport::GetTraits();
        traits.wire.ackInterval =
            fabric::selective::PacketsPerAnswer(m_ackEveryBytes, m_mtuBytes + m_headerBytes);
        return traits;
    }

    bool GivesCredit() const
    {
        return m_receiverCredit;
    }

    bool IsOrdered() const
    {
        return m_delivery == Delivery::ORDERED;
    }

    /// @return most credit of a source whose packets take this long at its port or ports [byte]
    int64_t MostCreditBytes(uint64_t rttPs, uint64_t packetPs, uint32_t ports) const;

    uint64_t PacketBytes() const ///< Of a full packet on the wire [byte]
    {
        return m_mtuBytes + m_headerBytes + Host().FramingBytes();
    }

  private:
    void OnPayload(UecInbound& in,
                   fabric::FrameId id,
                   fabric::PortId port,
                   uint32_t expected) override;
    void OnTrimmed(UecInbound& in, fabric::FrameId id, fabric::PortId port) override;
    void OnDelivered(UecInbound& in) override;
    void OnHostTimer() override;

    void ReportGap(UecInbound& in, fabric::FrameId id, fabric::PortId port);
    void Acknowledge(UecInbound& in, fabric::FrameId id, fabric::PortId port, uint8_t kind);
    void TakeTarget(UecInbound& in, fabric::FrameId id, fabric::PortId port);
    UecInbound* TakePull() override;
    uint64_t NextPullPs() const override;
    void StampPull(UecInbound& in, fabric::FrameId pull) override;

    // what packets touch
    uint32_t m_ackEveryBytes{0};
    uint16_t m_pullEntropy{0};
    bool m_receiverCredit{false};
    Delivery m_delivery{Delivery::UNORDERED};
    bool m_adapts{false};                  ///< The rate of credit, to oversubscription
    uint64_t m_updatePs{fabric::NEVER_PS}; ///< Next time of m_oversubscription [ps]
    std::optional<fabric::CreditPacer> m_credit;

    OversubscriptionControl m_oversubscription;
    uint64_t m_updates{0}; ///< So far
    uint64_t m_rateBps{0}; ///< At which credit is given at most [bit/s]
    double m_creditShare{0};
    double m_speculativeBdp{0};
    bool m_slowCredit{false};
    uint32_t m_quantumPackets{0};
    Time m_oversubscriptionInterval;
    double m_leastShare{0};
};

} // namespace ns3

#endif // UEC_DESTINATION_H
