// SPDX-License-Identifier: GPL-2.0-only

#ifndef HOST_PACER_H
#define HOST_PACER_H

#include <algorithm>
#include <cstdint>

namespace ns3
{
namespace fabric
{

/**
 * @ingroup host
 * @brief Times at which a flow, or a host, may send at a given rate.
 *
 * What is sent late, because the wire was taken, is made up for by at most one frame; silence
 * beyond that is not credited. The remainder of each division is kept, so that no rate drifts.
 */
class Pacer
{
  public:
    /// @return no frame before this time [ps]
    uint64_t NextPs() const
    {
        return m_nextPs;
    }

    /**
     * A frame was sent.
     * @param nowPs when its first bit left [ps]
     * @param wireBytes with framing, at most 64 kiB [byte]
     * @param rateBps of the flow, > 0 [bit/s]
     */
    void Sent(uint64_t nowPs, uint64_t wireBytes, uint64_t rateBps)
    {
        constexpr uint64_t PS_PER_SECOND = 1'000'000'000'000;
        m_remainder = rateBps == m_rateBps ? m_remainder : 0;
        m_rateBps = rateBps;
        // bits x 1e12 < 2^64: up to 2.3 MB at once
        const uint64_t bits = wireBytes * 8 * PS_PER_SECOND + m_remainder;
        const uint64_t gapPs = bits / rateBps;
        m_remainder = bits % rateBps;
        const uint64_t latePs = m_nextPs == 0 ? 0 : std::min(gapPs, nowPs);
        m_nextPs = std::max(m_nextPs, nowPs - latePs) + gapPs;
    }

    /// The rate is another one from now on: what is left of a gap is waited for at that rate.
    void Change(uint64_t nowPs, uint64_t rateBps)
    {
        if (rateBps == m_rateBps || m_nextPs <= nowPs)
        {
            return;
        }
        const auto leftPs = static_cast<double>(m_nextPs - nowPs);
        const double factor = static_cast<double>(m_rateBps) / static_cast<double>(rateBps);
        m_nextPs = nowPs + static_cast<uint64_t>(leftPs * factor);
        m_remainder = 0;
        m_rateBps = rateBps;
    }

  private:
    uint64_t m_nextPs{0};
    uint64_t m_remainder{0}; ///< Of the last division [bit x 1e12 modulo rate]
    uint64_t m_rateBps{0};   ///< Of the last frame [bit/s]
};

} // namespace fabric
} // namespace ns3

#endif // HOST_PACER_H
