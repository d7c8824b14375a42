// SPDX-License-Identifier: GPL-2.0-only

#include "tcp-settings.h"

#include "ns3/abort.h"
#include "ns3/boolean.h"
#include "ns3/data-rate.h"
#include "ns3/enum.h"
#include "ns3/object-factory.h"
#include "ns3/tcp-bbr.h"
#include "ns3/tcp-l4-protocol.h"
#include "ns3/tcp-socket-state.h"
#include "ns3/uinteger.h"

#include <map>

namespace ns3
{

namespace
{

std::string
TypeOf(TcpSettings::Variant variant)
{
    static const std::map<TcpSettings::Variant, std::string> names{
        {TcpSettings::CUBIC, "ns3::TcpCubic"},
        {TcpSettings::BBR, "ns3::TcpBbr"},
        {TcpSettings::LINUX_RENO, "ns3::TcpLinuxReno"},
        {TcpSettings::DCTCP, "ns3::TcpDctcp"},
        {TcpSettings::NEW_RENO, "ns3::TcpNewReno"},
        {TcpSettings::HIGH_SPEED, "ns3::TcpHighSpeed"},
        {TcpSettings::HTCP, "ns3::TcpHtcp"},
        {TcpSettings::SCALABLE, "ns3::TcpScalable"},
        {TcpSettings::BIC, "ns3::TcpBic"},
        {TcpSettings::ILLINOIS, "ns3::TcpIllinois"},
    };
    return names.at(variant);
}

/// Another default for what a socket makes inside, where nothing outside reaches it.
class DefaultFor
{
  public:
    DefaultFor(TypeId tid, const std::string& attribute, const AttributeValue& value)
        : m_tid(tid)
    {
        TypeId::AttributeInformation info;
        while (!Find(attribute, info))
        {
            NS_ABORT_MSG_IF(!m_tid.HasParent(), "ns-3 has no attribute " << attribute);
            m_tid = m_tid.GetParent();
        }
        m_before = info.initialValue;
        m_tid.SetAttributeInitialValue(m_index, value.Copy());
    }

    ~DefaultFor()
    {
        m_tid.SetAttributeInitialValue(m_index, m_before);
    }

    DefaultFor(const DefaultFor&) = delete;
    DefaultFor& operator=(const DefaultFor&) = delete;

  private:
    bool Find(const std::string& attribute, TypeId::AttributeInformation& info)
    {
        for (m_index = 0; m_index < m_tid.GetAttributeN(); m_index++)
        {
            info = m_tid.GetAttribute(m_index);
            if (info.name == attribute)
            {
                return true;
            }
        }
        return false;
    }

    TypeId m_tid;
    std::size_t m_index{0};
    Ptr<const AttributeValue> m_before;
};

} // namespace

Ptr<TcpSocketBase>
TcpSettings::MakeSocket(Ptr<Node> node, uint64_t portBps, uint32_t stream) const
{
    const DefaultFor cap(TcpSocketState::GetTypeId(),
                         "MaxPacingRate",
                         DataRateValue(DataRate(maxPacingBps ? maxPacingBps : portBps)));
    ObjectFactory factory;
    factory.SetTypeId(TypeOf(variant));
    const auto tcp = node->GetObject<TcpL4Protocol>();
    const auto socket = DynamicCast<TcpSocketBase>(tcp->CreateSocket(factory.GetTypeId()));
    socket->SetAttribute("SegmentSize", UintegerValue(segmentBytes));
    socket->SetAttribute("SndBufSize", UintegerValue(sendBufferBytes));
    socket->SetAttribute("RcvBufSize", UintegerValue(receiveBufferBytes));
    socket->SetAttribute("InitialCwnd", UintegerValue(initialWindowSegments));
    socket->SetAttribute("DelAckCount", UintegerValue(delayedAckSegments));
    socket->SetAttribute("DelAckTimeout", TimeValue(delayedAckTimeout));
    socket->SetAttribute("MinRto", TimeValue(minRto));
    socket->SetAttribute("ClockGranularity", TimeValue(clockGranularity));
    socket->SetAttribute("ConnTimeout", TimeValue(connectTimeout));
    socket->SetAttribute("ConnCount", UintegerValue(retries));
    socket->SetAttribute("DataRetries", UintegerValue(retries));
    socket->SetAttribute("WindowScaling", BooleanValue(windowScaling));
    socket->SetAttribute("Timestamp", BooleanValue(timestamps));
    socket->SetAttribute("Sack", BooleanValue(sack));
    socket->SetUseEcn(ecn ? TcpSocketState::On : TcpSocketState::Off);
    socket->SetPacingStatus(pacing);
    socket->SetPaceInitialWindow(pacing);
    const auto control = factory.Create<TcpCongestionOps>();
    if (const auto bbr = DynamicCast<TcpBbr>(control))
    {
        bbr->SetStream(stream);
    }
    socket->SetCongestionControlAlgorithm(control); // some switch pacing or ECN on
    return socket;
}

} // namespace ns3
