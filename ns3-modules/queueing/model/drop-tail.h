// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_DROP_TAIL_H
#define FABRIC_DROP_TAIL_H

#include "queue-discipline.h"

namespace ns3
{

/**
 * @ingroup fabric
 * @brief Admits a frame while its priority's queue stays within a limit, fixed or dynamic.
 *
 * The dynamic limit is Alpha times the free buffer of the switch, so n full queues hold
 * Alpha B / (1 + n Alpha) each: Choudhury and Hahne, "Dynamic Queue Length Thresholds for
 * Shared-Memory Packet Switches", IEEE/ACM Transactions on Networking 6(2), 1998, section III.
 */
class DropTail : public fabric::QueueDiscipline
{
  public:
    static TypeId GetTypeId();
    void Attach(fabric::Fabric& fabric) override;
    Verdict Admit(fabric::PortId port, fabric::Frame& frame, uint32_t queuedBytes) override;
    void Depart(fabric::PortId port, fabric::Frame& frame, uint32_t queuedBytes) override;

  protected:
    fabric::Fabric* m_fabric{nullptr};

  private:
    uint64_t m_limitBytes{0}; ///< Per port and priority, 0 = none [byte]
    double m_alpha{0};        ///< Share of the free buffer, 0 = no dynamic limit [1]
};

} // namespace ns3

#endif // FABRIC_DROP_TAIL_H
