// SPDX-License-Identifier: GPL-2.0-only

#include "observer.h"

namespace ns3
{
namespace fabric
{

void
Observer::OnStart(uint32_t)
{
}

void
Observer::OnDisturbance()
{
}

void
Observer::OnDataArrived(const Frame&, uint32_t)
{
}

void
Observer::OnPauseChanged(PortId, uint16_t, uint16_t, const PauseReason&)
{
}

void
Observer::OnSent(PortId, const Frame&)
{
}

void
Observer::OnReceived(PortId, const Frame&)
{
}

void
Observer::OnSkip(const SkippedTime&)
{
}

EnginePs
Observer::NextLookPs() const
{
    return EnginePs::Never();
}

void
Observer::Look(EnginePs)
{
}

bool
Observer::SeesInstants() const
{
    return false;
}

void
Observer::OnInstant(const Instant&)
{
}

bool
Observer::EndsRun() const
{
    return false;
}

void
Observer::Finish()
{
}

uint64_t
Observer::MemoryBytes() const
{
    return 0;
}

} // namespace fabric
} // namespace ns3
