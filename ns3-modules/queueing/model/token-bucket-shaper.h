// SPDX-License-Identifier: GPL-2.0-only

#ifndef TOKEN_BUCKET_SHAPER_H
#define TOKEN_BUCKET_SHAPER_H

#include "class-values.h"

#include "ns3/egress-scheduler.h"

#include <array>
#include <vector>

namespace ns3
{

/**
 * @ingroup queueing
 * @brief Strict priorities, but a class with a rate sends only what its token bucket holds.
 *
 * A bucket fills at the rate of its class up to its burst; a frame goes when as many tokens are
 * there as it has bytes on the wire. A frame larger than the burst goes when the bucket is full,
 * and is paid off afterwards. Over any time t a class sends at most burst + rate t, and a frame.
 *
 * **Source**: RFC 2697, section 3 (one rate, one bucket), used as IEEE 802.1Q section 8.6.8 has
 * transmission selection: who is not in profile waits. Times of tokens are rounded up to 1 ps.
 *
 * **Not modelled**: shapers of ports and of flows; dropping or marking out of profile.
 */
class TokenBucketShaper final : public fabric::EgressScheduler
{
  public:
    static TypeId GetTypeId();
    void Check() const override;
    void Attach(fabric::SwitchContext& context) override;
    Choice Next(fabric::PortId port, uint32_t ready) override;
    void Sent(fabric::PortId port, uint32_t queueClass, uint64_t wireBytes) override;

  private:
    uint64_t TokensPs(uint64_t bytes, uint32_t queueClass) const;
    uint64_t NotBeforePs(fabric::PortId port, uint32_t queueClass) const;

    const fabric::SwitchContext* m_context{nullptr};
    ClassValues m_rates;
    ClassValues m_bursts;
    std::array<uint64_t, fabric::MAX_CLASSES> m_rateBps{};    ///< Per class, 0 = no limit [bit/s]
    std::array<uint64_t, fabric::MAX_CLASSES> m_burstBytes{}; ///< Per class [byte]
    /// When each bucket will be full again, per port and class [ps]
    std::vector<std::array<uint64_t, fabric::MAX_CLASSES>> m_fullPs;
};

} // namespace ns3

#endif // TOKEN_BUCKET_SHAPER_H
