// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_PFC_H
#define FABRIC_PFC_H

#include "link-flow-control.h"

#include <array>
#include <vector>

namespace ns3
{

/**
 * @ingroup fabric
 * @brief Priority flow control: PAUSE and RESUME frames per ingress port and priority.
 *
 * A switch counts the bytes it holds by the port and priority they came in by. Above XoffBytes it
 * sends PAUSE; what is still under way goes to the headroom; at XoffBytes - XonOffsetBytes or
 * below it sends RESUME. PAUSE frames take wire time, wait behind the frame in flight, and are
 * never paused themselves.
 *
 * With Alpha the threshold is dynamic: Alpha times the free part of what the buffer holds beside
 * the headroom of all ports (Choudhury and Hahne 1998, section III, applied at the ingress).
 *
 * Source: IEEE 802.1Qbb; headroom as worked out in annex O of IEEE 802.1Q: the frame that crosses
 * XoffBytes, two propagation times, a full frame of the reverse direction in front of the PAUSE,
 * the PAUSE, and a full frame that the other end has just begun.
 * Deviations: a pause holds until RESUME and does not expire; the other end reacts at once.
 */
class Pfc final : public fabric::LinkFlowControl
{
  public:
    static TypeId GetTypeId();
    void Attach(fabric::Fabric& fabric) override;
    bool IsLossless(uint8_t priority) const override;
    bool OnArrival(fabric::PortId ingress, const fabric::Frame& frame) override;
    void OnDeparture(fabric::PortId ingress, uint8_t priority, uint32_t bytes) override;
    void OnLinkControl(fabric::PortId port, const fabric::Frame& frame) override;
    fabric::WireBytes MacControl(const fabric::Frame& frame) const override;
    void OnLinkDown(fabric::PortId port) override;
    void Fetch(fabric::PortId ingress) const override;
    bool HoldsBack(fabric::PortId ingress, uint8_t priority) const override;
    uint64_t ReservedBytes(fabric::PortId ingress) const override;
    uint32_t PeakBytes(fabric::PortId ingress) const override;
    uint64_t HeldBytes(fabric::PortId ingress) const override;

  private:
    /// Account of one ingress port: one cache line.
    struct alignas(64) Ingress
    {
        std::array<uint32_t, fabric::NUM_PRIORITIES> usedBytes{}; ///< Held, by priority [byte]
        uint64_t headroomBytes{0};  ///< Accepted beyond the threshold [byte]
        uint32_t peakBytes{0};      ///< Largest value in usedBytes [byte]
        uint8_t paused{0};      ///< Bit per priority for which the other end was told to stop
    };

    uint64_t HeadroomOf(const fabric::Fabric& fabric, fabric::PortId ingress) const;
    uint64_t XoffBytesOf(uint32_t node) const;

    fabric::Fabric* m_fabric{nullptr};
    std::vector<Ingress> m_ingress; ///< Per port
    /// Held when PAUSE was sent, without the frame that crossed a dynamic threshold; per port and
    /// priority [byte]
    std::vector<std::array<uint32_t, fabric::NUM_PRIORITIES>> m_pausedAtBytes;
    uint64_t m_xoffBytes{0};
    double m_alpha{0};
    std::vector<uint64_t> m_sharedBytes; ///< Buffer of each switch without headroom [byte]
    uint64_t m_xonOffsetBytes{0};
    uint64_t m_headroomBytes{0};
    uint32_t m_mtuFrameBytes{0};
    uint32_t m_priorities{0};
};

} // namespace ns3

#endif // FABRIC_PFC_H
