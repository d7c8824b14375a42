// SPDX-License-Identifier: GPL-2.0-only

#ifndef PER_DIRECTION_H
#define PER_DIRECTION_H

#include "ns3/queue-discipline.h"
#include "ns3/type-choice.h"

#include <array>
#include <deque>
#include <vector>

namespace ns3
{

/**
 * @ingroup queueing
 * @brief One queue discipline for ports to hosts, the last hop, and one for ports to switches.
 *
 * Each is named with its attributes, for example "ns3::TrimmingQueue[LimitBytes=70000]". A network
 * that uses marks to balance load between paths has none on the last hop, where there is no choice.
 *
 * **Source**: Araujo et al., "Resilient AI Supercomputer Networking using MRC and SRv6", arXiv
 * 2605.04333, section 2.1 (ECN is off on the last hop); the structure is our own.
 *
 * **Not modelled**: other classes of ports than these two.
 */
class PerDirection final : public fabric::QueueDiscipline
{
  public:
    static TypeId GetTypeId();
    void Check() const override;
    void Attach(fabric::SwitchContext& context) override;
    Traits GetTraits(uint8_t priority) const override;
    QuietBytes Quiet(uint8_t priority) const override;
    uint64_t NumDraws() const override;
    Verdict Admit(fabric::PortId port, fabric::Frame& frame, uint64_t queuedBytes) override;
    void Depart(fabric::PortId port, fabric::Frame& frame, uint64_t queuedBytes) override;

  private:
    /// To where a port leads.
    enum Direction : uint8_t
    {
        TO_HOST,
        TO_SWITCH,
        NUM_DIRECTIONS,
    };

    Ptr<fabric::QueueDiscipline> Make(uint32_t direction) const;
    Ptr<fabric::QueueDiscipline> Of(uint32_t direction) const; ///< Made if there is none yet

    TypeChoice m_toHosts;
    TypeChoice m_toSwitches;
    std::array<Ptr<fabric::QueueDiscipline>, NUM_DIRECTIONS> m_disciplines;
    std::deque<fabric::SwitchContext> m_views; ///< One for each discipline
    std::vector<uint8_t> m_direction;          ///< Of each port
};

} // namespace ns3

#endif // PER_DIRECTION_H
