// SPDX-License-Identifier: GPL-2.0-only

#ifndef RED_ECN_H
#define RED_ECN_H

#include "drop-tail.h"

#include <vector>

namespace ns3
{

/**
 * @ingroup queueing
 * @brief Drop-tail queue that marks ECN-capable frames by its instantaneous length.
 *
 * Marks when a frame leaves the queue, by the bytes that stay behind: never up to Kmin, always
 * above Kmax, with a probability that rises linearly to Pmax in between.
 *
 * **Source**: Zhu et al., "Congestion Control for Large-Scale RDMA Deployments" (DCQCN), SIGCOMM
 * 2015, section 3.1 and figure 5. Deviation: marks at departure, as the HPCC simulator does.
 *
 * **Not modelled**: an average of the length; counts since the last mark.
 */
class RedEcn : public DropTail
{
  public:
    static TypeId GetTypeId();
    void Check() const override;
    void Attach(fabric::SwitchContext& context) override;
    QuietBytes Quiet(uint8_t priority) const override;
    void Depart(fabric::PortId port, fabric::Frame& frame, uint64_t queuedBytes) override;

    Traits GetTraits(uint8_t) const override
    {
        const bool marks = LimitBytes() == 0 || m_kminBytes < LimitBytes();
        return {.marks = marks, .mayRepeat = true};
    }

    uint64_t NumDraws() const override
    {
        return m_numDraws;
    }

  private:
    std::vector<fabric::RandomCursor> m_draws; ///< Per port
    uint64_t m_numDraws{0};
    uint64_t m_kminBytes{0};                   ///< No mark up to here [byte]
    uint64_t m_kmaxBytes{0};                   ///< Always a mark above [byte]
    double m_pmax{0};                          ///< Probability of a mark just below Kmax [1]
};

} // namespace ns3

#endif // RED_ECN_H
