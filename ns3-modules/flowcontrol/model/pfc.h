// SPDX-License-Identifier: GPL-2.0-only

#ifndef PFC_H
#define PFC_H

#include "ns3/link-flow-control.h"

#include <array>
#include <vector>

/**
 * @defgroup flowcontrol Link flow control
 * @brief How the two ends of a link keep a buffer from overflowing.
 */

namespace ns3
{

/**
 * @ingroup flowcontrol
 * @brief Priority flow control: PAUSE and RESUME frames per ingress port and priority.
 *
 * A switch counts the bytes it holds by the port and priority they came in by. Above XoffBytes it
 * sends PAUSE; what is still under way goes to the headroom; once it holds XoffBytes -
 * XonOffsetBytes or less it sends RESUME. PAUSE frames take wire time, wait behind the frame in
 * flight, and are never paused themselves.
 *
 * With Alpha the threshold is dynamic: Alpha times the free part of what the buffer holds beside
 * the headroom of all ports (Choudhury and Hahne 1998, section III, applied at the ingress).
 *
 * **Source**: IEEE 802.1Qbb; headroom as worked out in annex O of IEEE 802.1Q: the frame that
 * crosses XoffBytes, two propagation times, a full frame of the reverse direction in front of the
 * PAUSE, the PAUSE, and a full frame that the other end has just begun; with several lossless
 * priorities also a PAUSE or RESUME of each other one in front of it.
 *
 * **Not modelled**: pauses that expire (one holds until RESUME); time to react at the other end;
 * several priorities in one PAUSE.
 */
class Pfc final : public fabric::LinkFlowControl
{
  public:
    static TypeId GetTypeId();
    void Check() const override;
    void Attach(fabric::LinkContext& context) override;

    Traits GetTraits() const override
    {
        return {.losslessClasses = m_priorities, .countedClasses = m_priorities};
    }

    bool OnArrival(fabric::PortId ingress,
                   fabric::PortId egress,
                   const fabric::Frame& frame) override;
    void OnDeparture(fabric::PortId ingress, uint8_t priority, uint32_t bytes) override;
    void OnLinkControl(fabric::PortId port, const fabric::LinkMessage& message) override;
    fabric::WireBytes MacControl(uint32_t word) const override;
    void OnLinkDown(fabric::PortId port) override;
    PortMemory Memory() const override;
    Account GetAccount(fabric::PortId ingress, uint8_t priority) const override;

  private:
    /// Account of one ingress port and lossless priority: two of them in a cache line.
    struct alignas(32) Lossless
    {
        uint64_t heldBytes{0};     ///< [byte]
        uint64_t peakBytes{0};     ///< Largest value of heldBytes [byte]
        uint64_t pausedAtBytes{0}; ///< Held when PAUSE was sent, without the frame that crossed a
                                   ///< dynamic threshold [byte]
        uint64_t headroomBytes : 63 {0}; ///< Accepted beyond the threshold [byte]
        bool isPaused : 1 {false};       ///< The other end was told to stop
    };

    static_assert(sizeof(Lossless) == 32);

    /// @return account of a lossless priority
    Lossless& AccountOf(fabric::PortId ingress, uint8_t priority)
    {
        return m_lossless[size_t{ingress} * m_losslessCount + m_index[priority]];
    }

    uint64_t HeadroomOf(fabric::PortId ingress) const;
    uint64_t XoffBytesOf(fabric::PortId ingress) const;
    void Reserve(uint32_t node);
    void Pause(fabric::PortId ingress, fabric::PortId egress, uint8_t priority);
    void Resume(fabric::PortId ingress, uint8_t priority);

    fabric::LinkContext* m_context{nullptr};
    std::vector<Lossless> m_lossless;    ///< Per port and lossless priority
    std::vector<uint64_t> m_sharedBytes; ///< Buffer of each switch without headroom [byte]
    std::array<uint8_t, fabric::NUM_PRIORITIES> m_index{}; ///< Of each lossless priority
    uint32_t m_losslessCount{0};                           ///< Lossless priorities
    uint64_t m_xoffBytes{0};
    bool m_isDynamic{false}; ///< Alpha is not 0
    double m_alpha{0};
    uint64_t m_xonOffsetBytes{0};
    uint64_t m_headroomBytes{0};
    uint32_t m_mtuFrameBytes{0};
    uint32_t m_priorities{0};
};

} // namespace ns3

#endif // PFC_H
