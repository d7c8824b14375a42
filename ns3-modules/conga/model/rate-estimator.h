// SPDX-License-Identifier: GPL-2.0-only

#ifndef RATE_ESTIMATOR_H
#define RATE_ESTIMATOR_H

#include <cmath>
#include <cstdint>

namespace ns3
{

/**
 * @ingroup conga
 * @brief Discounting rate estimator: a register that grows by what is sent and decays by a clock.
 *
 * The register X is multiplied by 1 - alpha at each tick. At a steady rate R it is R period / alpha
 * right before a tick, so X alpha / period estimates R from below, by a share of alpha at most.
 *
 * **Source**: CONGA (Alizadeh et al., SIGCOMM 2014), section 3.2.
 */
class RateEstimator
{
  public:
    /// Of all registers of a run.
    struct Clock
    {
        uint64_t periodPs; ///< From tick to tick [ps]
        double alpha;      ///< Lost at each tick [1]
    };

    void Add(uint64_t bytes, uint64_t nowPs, const Clock& clock)
    {
        Decay(nowPs, clock);
        m_bytes += static_cast<double>(bytes);
    }

    /// @return estimate of the rate [bit/s]
    double RateBps(uint64_t nowPs, const Clock& clock)
    {
        Decay(nowPs, clock);
        return m_bytes * 8 * clock.alpha / (static_cast<double>(clock.periodPs) * 1e-12);
    }

  private:
    void Decay(uint64_t nowPs, const Clock& clock)
    {
        const uint64_t tick = nowPs / clock.periodPs;
        if (tick != m_tick)
        {
            m_bytes *= std::pow(1 - clock.alpha, static_cast<double>(tick - m_tick));
            m_tick = tick;
        }
    }

    double m_bytes{0}; ///< X [byte]
    uint64_t m_tick{0};
};

} // namespace ns3

#endif // RATE_ESTIMATOR_H
