// SPDX-License-Identifier: GPL-2.0-only

#ifndef VL_ARBITRATION_H
#define VL_ARBITRATION_H

#include "class-values.h"

#include "ns3/egress-scheduler.h"

#include <optional>
#include <vector>

namespace ns3
{

/**
 * @ingroup queueing
 * @brief Arbitration of virtual lanes by two tables, as InfiniBand switches have it.
 *
 * An entry gives a lane a weight in units of 64 bytes; the entries of a table take turns in their
 * order, and a lane may send while any of its weight is left. The high table goes first, until it
 * has sent HighLimit units of 4096 bytes: then the low table may send one frame.
 *
 * **Source**: InfiniBand Architecture Specification 1.4, volume 1, section 7.6.9.
 *
 * **Not modelled**: lane 15 of its own right. Deviations: a lane that is in neither table goes
 * when no other lane is ready (there it never does); bytes are those on the wire.
 */
class VlArbitration final : public fabric::EgressScheduler
{
  public:
    static TypeId GetTypeId();
    void Check() const override;
    void CheckClasses(uint32_t classes, const std::string& control) const override;
    void Attach(fabric::SwitchContext& context) override;
    Choice Next(fabric::PortId port, uint32_t ready) override;
    void Sent(fabric::PortId port, uint32_t queueClass, uint64_t wireBytes) override;

  private:
    /// Place in a table.
    struct Place
    {
        size_t entry{0};
        int64_t left{0}; ///< Of its weight [64 byte]
    };

    /// Arbitration at a port.
    struct Arbiter
    {
        Place high;
        Place low;
        uint64_t highBytes{0}; ///< Sent since the low table had its chance [byte]
    };

    static std::optional<size_t> Pick(const ClassValues& table, const Place& place, uint32_t ready);
    bool HighMayGo(const Arbiter& arbiter) const;

    ClassValues m_highTable;
    ClassValues m_lowTable;
    uint32_t m_highLimit{0};         ///< [4096 byte], NO_HIGH_LIMIT: none
    std::vector<Arbiter> m_arbiters; ///< Per port
};

} // namespace ns3

#endif // VL_ARBITRATION_H
