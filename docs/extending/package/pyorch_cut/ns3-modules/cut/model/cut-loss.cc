// SPDX-License-Identifier: GPL-2.0-only

#include "cut-loss.h"

#include "ns3/contract-version.h"
#include "ns3/uinteger.h"

static_assert(FABRIC_CONTRACT_VERSION == 1, "this module is for version 1 of pyorch's contracts");

namespace ns3
{

using namespace fabric;

NS_OBJECT_ENSURE_REGISTERED(CutLoss);

TypeId
CutLoss::GetTypeId()
{
    static TypeId tid = TypeId("ns3::CutLoss")
                            .SetParent<LossModel>()
                            .SetGroupName("Cut")
                            .AddConstructor<CutLoss>()
                            .AddAttribute("Every",
                                          "Frames between two cuts [frame]",
                                          UintegerValue(10000),
                                          MakeUintegerAccessor(&CutLoss::m_every),
                                          MakeUintegerChecker<uint32_t>(1, 1000000000))
                            .AddAttribute("Length",
                                          "Frames that a cut loses [frame]",
                                          UintegerValue(3),
                                          MakeUintegerAccessor(&CutLoss::m_length),
                                          MakeUintegerChecker<uint32_t>(1, 1000000));
    return tid;
}

void
CutLoss::Attach(SwitchContext& context)
{
    m_frames.resize(context.NumPorts());
}

LossModel::Fate
CutLoss::Judge(PortId receiver, const Frame&)
{
    uint32_t& frames = m_frames[receiver];
    if (++frames <= m_every)
    {
        return Fate::ARRIVES;
    }
    if (frames == m_every + m_length)
    {
        frames = 0;
    }
    return Fate::LOST;
}

} // namespace ns3
