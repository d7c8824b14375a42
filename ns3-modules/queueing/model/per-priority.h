// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_PER_PRIORITY_H
#define FABRIC_PER_PRIORITY_H

#include "queue-discipline.h"

#include <array>
#include <string>

namespace ns3
{

/**
 * @ingroup fabric
 * @brief A queue discipline for each priority: limits and ECN profiles of their own.
 *
 * Each is named with its attributes, for example "ns3::RedEcn[KminBytes=100000|KmaxBytes=400000]".
 * Source: IEEE 802.1Q, section 8.6.6 (a queue per traffic class); the structure is our own.
 */
class PerPriority final : public fabric::QueueDiscipline
{
  public:
    static TypeId GetTypeId();
    void Attach(fabric::Fabric& fabric) override;
    Verdict Admit(fabric::PortId port, fabric::Frame& frame, uint32_t queuedBytes) override;
    void Depart(fabric::PortId port, fabric::Frame& frame, uint32_t queuedBytes) override;
    uint32_t TrimBytes(uint8_t priority) const override;
    uint8_t TrimPriority(uint8_t priority) const override;

  private:
    template <uint32_t priority>
    void SetType(std::string type)
    {
        m_types[priority] = type;
    }

    std::string m_othersType; ///< Of the priorities that have none of their own
    std::array<std::string, fabric::NUM_PRIORITIES> m_types;
    std::array<Ptr<fabric::QueueDiscipline>, fabric::NUM_PRIORITIES> m_disciplines;
};

} // namespace ns3

#endif // FABRIC_PER_PRIORITY_H
