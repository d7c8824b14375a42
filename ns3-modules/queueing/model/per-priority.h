// SPDX-License-Identifier: GPL-2.0-only

#ifndef PER_PRIORITY_H
#define PER_PRIORITY_H

#include "ns3/queue-discipline.h"
#include "ns3/type-choice.h"

#include <array>
#include <deque>
#include <utility>

namespace ns3
{

/**
 * @ingroup queueing
 * @brief A queue discipline for each priority: limits and ECN profiles of their own.
 *
 * Each is named with its attributes, for example "ns3::RedEcn[KminBytes=100000|KmaxBytes=400000]".
 * Priorities with equal choices share one object; two of one type draw random numbers of their own.
 *
 * **Source**: IEEE 802.1Q, section 8.6.6 (a queue per traffic class); the structure is our own.
 *
 * **Not modelled**: choices of their own for classes above priority 7; they have that of
 * DefaultQueue.
 */
class PerPriority final : public fabric::QueueDiscipline
{
  public:
    static TypeId GetTypeId();
    void Check() const override;
    void Attach(fabric::SwitchContext& context) override;
    QuietBytes Quiet(uint8_t priority) const override;
    Verdict Admit(fabric::PortId port, fabric::Frame& frame, uint64_t queuedBytes) override;
    void Depart(fabric::PortId port, fabric::Frame& frame, uint64_t queuedBytes) override;

    Traits GetTraits(uint8_t priority) const override
    {
        const auto& made = m_disciplines[priority]; // none yet before Attach
        Traits traits = (made ? made : Make(priority))->GetTraits(priority);
        traits.mayRepeat = false;
        return traits;
    }

  private:
    /// Add an attribute for each priority.
    template <size_t... PRIORITIES>
    static TypeId AddChoices(TypeId tid, std::index_sequence<PRIORITIES...>);

    template <size_t PRIORITY>
    void SetChoice(TypeChoice choice)
    {
        m_choices[PRIORITY] = choice;
    }

    template <size_t PRIORITY>
    TypeChoice GetChoice() const
    {
        return m_choices[PRIORITY];
    }

    const TypeChoice& ChoiceOf(uint32_t priority) const;
    Ptr<fabric::QueueDiscipline> Make(uint32_t priority) const;

    TypeChoice m_others; ///< Of the priorities that have none of their own
    std::array<TypeChoice, fabric::NUM_PRIORITIES> m_choices;
    std::array<Ptr<fabric::QueueDiscipline>, fabric::MAX_CLASSES> m_disciplines;
    std::deque<fabric::SwitchContext> m_views; ///< One for each discipline
};

} // namespace ns3

#endif // PER_PRIORITY_H
