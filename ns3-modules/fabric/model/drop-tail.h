// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_DROP_TAIL_H
#define FABRIC_DROP_TAIL_H

#include "queue-discipline.h"

namespace ns3
{

/**
 * @ingroup fabric
 * @brief Admits a frame while its priority's queue stays within a limit.
 */
class DropTail final : public fabric::QueueDiscipline
{
  public:
    static TypeId GetTypeId();
    void Attach(fabric::Fabric& fabric) override;
    Verdict Admit(fabric::PortId port, fabric::Frame& frame, uint32_t queuedBytes) override;
    void Depart(fabric::PortId port, fabric::Frame& frame, uint32_t queuedBytes) override;

  private:
    uint64_t m_limitBytes{0}; ///< Per port and priority, 0 = none [byte]
};

} // namespace ns3

#endif // FABRIC_DROP_TAIL_H
