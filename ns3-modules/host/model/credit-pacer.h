// SPDX-License-Identifier: GPL-2.0-only

#ifndef HOST_CREDIT_PACER_H
#define HOST_CREDIT_PACER_H

#include "flow-order.h"
#include "pacer.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace ns3
{
namespace fabric
{

/**
 * @ingroup host
 * @brief Credit that a receiving host hands out to the flows that want to send to it.
 *
 * NDP's PULLs (one packet each) and RCCC's credits (quanta, a rate that follows how oversubscribed
 * the network is) differ in the rules, not in the machine.
 */
class CreditPacer
{
  public:
    /// How credit is handed out.
    struct Rules
    {
        uint32_t quantumBytes; ///< Of one credit, > 0 [byte]
        FlowOrder::By order;   ///< Of the flows: in turn, or who began first
        uint64_t rateBps;      ///< Of all credit, > 0 [bit/s]
    };

    /// Leave for one flow to send.
    struct Credit
    {
        uint32_t flow;
        uint64_t bytes;
    };

    explicit CreditPacer(const Rules& rules);

    void Want(uint32_t flow, uint64_t bytes); ///< A flow wants this much more [byte]

    /**
     * While nobody wants any, a flow that had what it wanted gets credit, of a quantum each, until
     * it is this much ahead of what it wants.
     * @param flow one that has wanted some
     * @param bytes [byte]
     */
    void Spare(uint32_t flow, uint64_t bytes);

    void Forget(uint32_t flow);        ///< A flow has ended; its number may be reused
    void SetRateBps(uint64_t rateBps); ///< From the next credit on [bit/s]

    /// @return credit to hand out now, none if nobody may have any before NextPs
    std::optional<Credit> Take(uint64_t nowPs);

    /// @return when to call Take again, NEVER_PS: after the next Want [ps]
    uint64_t NextPs() const;

  private:
    struct Flow
    {
        int64_t wantedBytes{0}; ///< And not yet credited, < 0: ahead of what it wants [byte]
        int64_t spareBytes{0};  ///< It may be ahead by [byte]
        uint64_t number{0};     ///< In order of the first Want

        bool IsIdle() const ///< It may have credit if nobody wants any
        {
            return wantedBytes <= 0 && -wantedBytes < spareBytes;
        }
    };

    void List(uint32_t flow);
    uint32_t NextInTurn();

    /// @return whether a flow ever wanted credit, or a later one did
    bool IsKnown(uint32_t flow) const
    {
        return flow <= m_others.size();
    }

    Flow& Of(uint32_t flow)
    {
        return flow == 0 ? m_first : m_others[flow - 1];
    }

    // what each credit touches, side by side; the first flow is often the only one
    Pacer m_pacer;
    int64_t m_wantedBytes{0}; ///< By all flows, and not yet credited [byte]
    Flow m_first;
    Rules m_rules;
    FlowOrder m_order;          ///< Of flows that want credit
    FlowOrder m_idle;           ///< Of flows that do not and may have some
    bool m_waits{false};        ///< Somebody may have credit as soon as the pacer allows
    std::vector<Flow> m_others; ///< From flow 1 up
    uint64_t m_begun{0};        ///< Flows ever
};

} // namespace fabric
} // namespace ns3

#endif // HOST_CREDIT_PACER_H
