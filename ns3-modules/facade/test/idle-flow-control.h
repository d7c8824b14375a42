// SPDX-License-Identifier: GPL-2.0-only

#ifndef IDLE_FLOW_CONTROL_H
#define IDLE_FLOW_CONTROL_H

#include "ns3/link-flow-control.h"

namespace ns3
{
namespace tests
{

using namespace fabric;

/// Flow control that does nothing on any link.
class IdleFlowControl : public LinkFlowControl
{
  public:
    void Attach(LinkContext&) override
    {
    }

    Traits GetTraits() const override
    {
        return {.countedClasses = 0};
    }

    bool OnArrival(PortId, PortId, const Frame&) override
    {
        return true;
    }

    void OnDeparture(PortId, uint8_t, uint32_t) override
    {
    }

    void OnLinkControl(PortId, const LinkMessage&) override
    {
    }

    void OnLinkDown(PortId) override
    {
    }

    Account GetAccount(PortId, uint8_t) const override
    {
        return {};
    }
};

} // namespace tests
} // namespace ns3

#endif // IDLE_FLOW_CONTROL_H
