// SPDX-License-Identifier: GPL-2.0-only

#ifndef DEFICIT_ROUND_ROBIN_H
#define DEFICIT_ROUND_ROBIN_H

#include "class-values.h"

#include "ns3/egress-scheduler.h"

#include <array>
#include <vector>

namespace ns3
{

/**
 * @ingroup queueing
 * @brief Classes take turns, the highest first; each turn adds a quantum of bytes to what a class
 * may send, and what it leaves it keeps for the next turn while frames wait.
 *
 * Busy classes share a link in proportion to their quanta, whatever the sizes of their frames.
 * Bytes are those on the wire.
 *
 * **Source**: Shreedhar and Varghese, "Efficient Fair Queuing using Deficit Round Robin",
 * IEEE/ACM Transactions on Networking 4(3), 1996, section III.
 *
 * **Not modelled**: a queue for each flow: the classes are those of the frames.
 */
class DeficitRoundRobin final : public fabric::EgressScheduler
{
  public:
    static TypeId GetTypeId();
    void Check() const override;
    void Attach(fabric::SwitchContext& context) override;
    Choice Next(fabric::PortId port, uint32_t ready) override;
    void Sent(fabric::PortId port, uint32_t queueClass, uint64_t wireBytes) override;

  private:
    /// Turns at a port.
    struct Round
    {
        std::array<uint64_t, fabric::MAX_CLASSES> deficitBytes{}; ///< May be sent, by class [byte]
        uint32_t queueClass{0};                                   ///< Whose turn it is
        bool inTurn{false};                                       ///< It has had its quantum
    };

    const fabric::SwitchContext* m_context{nullptr};
    ClassValues m_quanta;
    uint64_t m_othersBytes{0};                                  ///< Of classes not named [byte]
    std::array<uint64_t, fabric::MAX_CLASSES> m_quantumBytes{}; ///< Per class [byte]
    std::vector<Round> m_rounds;                                ///< Per port
};

} // namespace ns3

#endif // DEFICIT_ROUND_ROBIN_H
