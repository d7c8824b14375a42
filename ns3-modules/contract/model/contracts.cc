// SPDX-License-Identifier: GPL-2.0-only

// What a contract means to one who overrides nothing but what is pure.

#include "congestion-control.h"
#include "egress-scheduler.h"
#include "forwarding-policy.h"
#include "link-flow-control.h"
#include "loss-model.h"
#include "path-selector.h"
#include "plugin.h"
#include "queue-discipline.h"
#include "switch-program.h"

namespace ns3
{
namespace fabric
{

NS_OBJECT_ENSURE_REGISTERED(CongestionControl);
NS_OBJECT_ENSURE_REGISTERED(EgressScheduler);
NS_OBJECT_ENSURE_REGISTERED(ForwardingPolicy);
NS_OBJECT_ENSURE_REGISTERED(LinkFlowControl);
NS_OBJECT_ENSURE_REGISTERED(PathSelector);
NS_OBJECT_ENSURE_REGISTERED(Plugin);
NS_OBJECT_ENSURE_REGISTERED(QueueDiscipline);
NS_OBJECT_ENSURE_REGISTERED(SwitchProgram);
NS_OBJECT_ENSURE_REGISTERED(LossModel);

namespace
{

/// @return TypeId of a contract, which has no constructor
TypeId
ContractId(const char* name)
{
    return TypeId(name).SetParent<Plugin>().SetGroupName("Fabric");
}

} // namespace

// ---- Plugin

TypeId
Plugin::GetTypeId()
{
    static TypeId tid = TypeId("ns3::fabric::Plugin").SetParent<Object>().SetGroupName("Fabric");
    return tid;
}

void
Plugin::Check() const
{
}

std::string
Plugin::Name(const std::string& attribute) const
{
    return GetInstanceTypeId().GetName() + ": " + attribute;
}

// ---- ForwardingPolicy

TypeId
ForwardingPolicy::GetTypeId()
{
    static TypeId tid = ContractId("ns3::fabric::ForwardingPolicy");
    return tid;
}

void
ForwardingPolicy::OnRoutesChanged()
{
}

PortId
ForwardingPolicy::Route(uint32_t, const Frame&)
{
    return NO_PORT;
}

// ---- QueueDiscipline

TypeId
QueueDiscipline::GetTypeId()
{
    static TypeId tid = ContractId("ns3::fabric::QueueDiscipline");
    return tid;
}

QueueDiscipline::QuietBytes
QueueDiscipline::Quiet(uint8_t) const
{
    return {0, 0};
}

void
QueueDiscipline::Depart(PortId, Frame&, uint64_t)
{
}

// ---- EgressScheduler

TypeId
EgressScheduler::GetTypeId()
{
    static TypeId tid = ContractId("ns3::fabric::EgressScheduler");
    return tid;
}

void
EgressScheduler::CheckClasses(uint32_t, const std::string&) const
{
}

// ---- LossModel

TypeId
LossModel::GetTypeId()
{
    static TypeId tid = ContractId("ns3::fabric::LossModel");
    return tid;
}

// ---- LinkFlowControl

TypeId
LinkFlowControl::GetTypeId()
{
    static TypeId tid = ContractId("ns3::fabric::LinkFlowControl");
    return tid;
}

void
LinkFlowControl::OnTransmit(PortId, const Frame&)
{
}

void
LinkFlowControl::OnTimer(PortId)
{
}

WireBytes
LinkFlowControl::MacControl(uint32_t) const
{
    return {};
}

void
LinkFlowControl::OnLinkUp(PortId)
{
}

LinkFlowControl::PortMemory
LinkFlowControl::Memory() const
{
    return {};
}

// ---- SwitchProgram

TypeId
SwitchProgram::GetTypeId()
{
    static TypeId tid = ContractId("ns3::fabric::SwitchProgram");
    return tid;
}

SwitchProgram::Action
SwitchProgram::OnArrival(uint32_t, PortId, FrameId)
{
    return Action::FORWARD;
}

void
SwitchProgram::OnDeparture(PortId, FrameId, uint64_t)
{
}

PortId
SwitchProgram::Route(uint32_t, const Frame&)
{
    return NO_PORT;
}

void
SwitchProgram::OnRoutesChanged()
{
}

void
SwitchProgram::OnTimer(uint32_t)
{
}

// ---- PathSelector

TypeId
PathSelector::GetTypeId()
{
    static TypeId tid = ContractId("ns3::fabric::PathSelector");
    return tid;
}

void
PathSelector::Attach(HostContext& host)
{
    m_host = &host;
}

void
PathSelector::Close(uint32_t)
{
}

void
PathSelector::Report(uint32_t, const PathReport&)
{
}

std::optional<uint16_t>
PathSelector::Constant(uint32_t) const
{
    return std::nullopt;
}

// ---- CongestionControl

TypeId
CongestionControl::GetTypeId()
{
    static TypeId tid = ContractId("ns3::fabric::CongestionControl");
    return tid;
}

void
CongestionControl::Attach(HostContext& host)
{
    m_host = &host;
}

void
CongestionControl::Close(uint32_t)
{
}

void
CongestionControl::OnSent(uint32_t, uint32_t, uint32_t)
{
}

void
CongestionControl::OnNotification(uint32_t)
{
}

void
CongestionControl::OnLoss(uint32_t, Loss)
{
}

bool
CongestionControl::IsAtRest(uint32_t) const
{
    return false;
}

uint64_t
CongestionControl::NextUpdatePs(uint32_t) const
{
    return NEVER_PS;
}

void
CongestionControl::OnUpdate(uint32_t)
{
}

uint64_t
CongestionControl::WindowBytes(uint32_t) const
{
    return NO_LIMIT;
}

uint64_t
CongestionControl::RateBps(uint32_t) const
{
    return NO_LIMIT;
}

} // namespace fabric
} // namespace ns3
