// SPDX-License-Identifier: GPL-2.0-only

#ifndef TRIMMING_QUEUE_H
#define TRIMMING_QUEUE_H

#include "red-ecn.h"

#include <vector>

namespace ns3
{

/**
 * @ingroup queueing
 * @brief A RedEcn queue that cuts the payload off what it has no room for, instead of dropping it.
 *
 * What is left, a header, waits in the class TrimPriority, which it shares with the control frames
 * of that priority. When data has no room a coin decides whether the arriving frame loses its
 * payload or the last one of the queue, whose place the arriving one takes. A header that finds its
 * class full, too, goes back to its source, or is dropped.
 *
 * How headers are served is up to the scheduler: strictly first without one, 10 to 1 with
 * WeightedRoundRobin and "7:10".
 *
 * **Source**: Handley et al., "Re-architecting datacenter networks and stacks for low latency and
 * high performance" (NDP), SIGCOMM 2017, sections 3.1 and 3.2.4. The tail of the queue and twice
 * the data limit for headers are those of its authors' simulator.
 *
 * **Not modelled**: trimming in the ingress pipeline; a limit of headers in frames.
 */
class TrimmingQueue final : public RedEcn
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
        Traits traits = RedEcn::GetTraits(priority);
        traits.marks = traits.marks && priority != m_trimPriority;
        traits.trims = priority != m_trimPriority;
        traits.trimBytes = m_trimBytes;
        traits.trimPriority = m_trimPriority;
        return traits;
    }

  private:
    uint64_t HeaderLimitBytes() const; ///< In force [byte]

    std::vector<fabric::RandomCursor> m_coins; ///< Per port
    double m_tailShare{0};                     ///< Probability that the tail is trimmed [1]
    uint64_t m_headerLimitBytes{0};            ///< As it was said, 0 = twice LimitBytes [byte]
    uint32_t m_trimBytes{0};                   ///< Size of what is left [byte]
    uint8_t m_trimPriority{0};                 ///< Class of what is left
    bool m_returnToSender{false};              ///< Headers without room go back
};

} // namespace ns3

#endif // TRIMMING_QUEUE_H
