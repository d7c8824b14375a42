// SPDX-License-Identifier: GPL-2.0-only

#ifndef DROP_TAIL_H
#define DROP_TAIL_H

#include "ns3/queue-discipline.h"

/**
 * @defgroup queueing Queues
 * @brief What the egress of a switch admits and marks, and which of its classes goes next.
 */

namespace ns3
{

/**
 * @ingroup queueing
 * @brief Admits a frame while the queue of its priority stays within a limit, fixed or dynamic.
 *
 * The dynamic limit is Alpha times the free buffer of the switch, so n full queues hold
 * Alpha B / (1 + n Alpha) each. With ReferenceRateBps sizes in bytes are those of a port of that
 * rate, and others have them in proportion to their rate at the moment.
 *
 * **Source**: Choudhury and Hahne, "Dynamic Queue Length Thresholds for Shared-Memory Packet
 * Switches", IEEE/ACM Transactions on Networking 6(2), 1998, section III.
 *
 * **Not modelled**: cells; a buffer that is reserved for one port.
 */
class DropTail : public fabric::QueueDiscipline
{
  public:
    static TypeId GetTypeId();
    void Attach(fabric::SwitchContext& context) override;
    QuietBytes Quiet(uint8_t priority) const override;
    Verdict Admit(fabric::PortId port, fabric::Frame& frame, uint64_t queuedBytes) override;

    Traits GetTraits(uint8_t) const override
    {
        return {.mayRepeat = true};
    }

  protected:
    /// @return the fixed limit as it was given, 0: there is none [byte]
    uint64_t LimitBytes() const
    {
        return m_limitBytes;
    }

    /// @return a size as it was given, for the rate that the link of a port has now [byte]
    uint64_t At(fabric::PortId port, uint64_t bytes) const
    {
        return m_forRateBps ? OfRate(port, bytes) : bytes;
    }

    /// @return a size up to which no port is asked, as rates change [byte]
    uint64_t QuietUpTo(uint64_t bytes) const
    {
        return m_forRateBps ? 0 : bytes;
    }

  private:
    uint64_t OfRate(fabric::PortId port, uint64_t bytes) const;

    const fabric::SwitchContext* m_context{nullptr};
    uint64_t m_limitBytes{0}; ///< Per port and priority, 0 = none [byte]
    double m_alpha{0};        ///< Share of the free buffer, 0 = no dynamic limit [1]
    uint64_t m_forRateBps{0}; ///< Rate that the sizes are for, 0 = any [bit/s]
};

} // namespace ns3

#endif // DROP_TAIL_H
