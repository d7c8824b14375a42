// SPDX-License-Identifier: GPL-2.0-only

#ifndef HOST_WINDOW_CONTROL_H
#define HOST_WINDOW_CONTROL_H

#include "ns3/congestion-control.h"
#include "ns3/slot-table.h"

namespace ns3
{
namespace fabric
{

/**
 * @ingroup host
 * @brief A congestion control whose flows each have a window with rules that all share.
 *
 * The derived type has the attributes, and puts them into `m_rules` when it is attached.
 *
 * @tparam Window state of one flow: Rules, a constructor from these and a Path, OnSent, OnAck,
 * OnTimeout, PayloadBytes
 */
template <typename Window>
class WindowControl : public CongestionControl
{
  public:
    void Open(uint32_t slot, const Path& path) override
    {
        m_flows.Open(slot, Window(m_rules, path));
    }

    void OnSent(uint32_t slot, uint32_t, uint32_t bytes) override
    {
        m_flows[slot].OnSent(bytes);
    }

    void OnAck(uint32_t slot, const Ack& ack) override
    {
        m_flows[slot].OnAck(m_rules, ack, Host().NowPs());
    }

    void OnLoss(uint32_t slot, Loss how) override
    {
        if (how == Loss::TIMEOUT) // of the others OnAck tells how much
        {
            m_flows[slot].OnTimeout();
        }
    }

    uint64_t WindowBytes(uint32_t slot) const override
    {
        return static_cast<uint64_t>(m_flows[slot].PayloadBytes());
    }

  protected:
    typename Window::Rules m_rules{};

  private:
    SlotTable<Window> m_flows;
};

} // namespace fabric
} // namespace ns3

#endif // HOST_WINDOW_CONTROL_H
