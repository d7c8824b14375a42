// SPDX-License-Identifier: GPL-2.0-only

#ifndef HEDERA_H
#define HEDERA_H

#include "annealing.h"
#include "demand-estimator.h"

#include "ns3/nstime.h"
#include "ns3/switch-program.h"

#include <map>
#include <optional>
#include <vector>

/**
 * @defgroup hedera Hedera
 * @brief Central placement of large flows.
 */

namespace ns3
{

/**
 * @ingroup hedera
 * @brief A controller that gives large messages paths with room for them, every Interval.
 *
 * The first switches count what messages send. Those that have sent ElephantShare of their host's
 * link in the last interval are elephants: their demands are estimated as if hosts alone limited
 * them. By simulated annealing all of them get paths, by their destinations, and the search goes on
 * from what it has found (Annealing). By global first fit each is placed on the first of its
 * shortest paths whose links have that much left; one that is placed stays if its path still has
 * room. The rest, and what finds no path, is left to the forwarding policy. Works on any topology.
 *
 * **Source**: Hedera (Al-Fares et al., NSDI 2010), sections 3 and 4; 5 s and a tenth of the link.
 *
 * **Not modelled**: time to collect counts, to compute and to install rules; limits of tables.
 * Deviation: Interval is 1 ms by default, for messages of milliseconds.
 */
class Hedera final : public fabric::SwitchProgram
{
  public:
    static TypeId GetTypeId();
    void Attach(fabric::ProgramContext& context) override;

    Traits GetTraits() const override
    {
        return {.hooks = ARRIVAL | ROUTE, .knowsAllSwitches = true};
    }

    Action OnArrival(uint32_t node, fabric::PortId ingress, fabric::FrameId frame) override;
    fabric::PortId Route(uint32_t node, const fabric::Frame& frame) override;
    void OnRoutesChanged() override;
    void OnTimer(uint32_t node) override;

    /// How paths are found.
    enum class Placement
    {
        ANNEALING,
        FIRST_FIT,
    };

  private:
    /// A message as its first switch sees it.
    struct Flow
    {
        uint32_t message{0};
        uint32_t firstSwitch{0};
        fabric::PortId from{fabric::NO_PORT}; ///< Of its first switch, to the link of its source
        uint32_t dst{0};
        uint64_t linkBps{0};              ///< Of that link [bit/s]
        uint64_t sentBytes{0};            ///< In this interval [byte]
        double demandBps{0};              ///< If hosts alone limited it [bit/s]
        std::vector<fabric::PortId> path; ///< To its destination; empty: not placed
    };

    void Place(const std::vector<Flow*>& elephants);
    void PlaceFirstFit(const std::vector<Flow*>& elephants);
    void PlaceAnnealed(const std::vector<Flow*>& elephants);
    std::vector<fabric::PortId> Walk(const Flow& flow, uint32_t way) const;
    bool HasRoom(fabric::PortId port, double rateBps) const;
    void Reserve(const Flow& flow);
    bool FindPath(uint32_t node, Flow& flow) const;

    fabric::ProgramContext* m_context{nullptr};
    std::map<uint32_t, Flow> m_flows;  ///< By message
    std::vector<double> m_reservedBps; ///< Per port [bit/s]
    std::optional<Annealing> m_annealing;
    Placement m_placement{Placement::ANNEALING};
    uint32_t m_iterations{0};
    double m_annealingFactor{0};
    bool m_isTimed{false};
    Time m_interval;
    uint64_t m_intervalPs{0};
    double m_elephantShare{0};
};

} // namespace ns3

#endif // HEDERA_H
