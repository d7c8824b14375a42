// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_PATH_SELECTOR_H
#define FABRIC_PATH_SELECTOR_H

#include "host-context.h"
#include "plugin.h"

#include <cstdint>
#include <optional>

namespace ns3
{
namespace fabric
{

/// What became of a packet on its path: one report for every packet whose fate becomes known.
struct PathReport
{
    enum class Fate
    {
        ARRIVED,
        MARKED,              ///< Arrived with an ECN mark
        TRIMMED,             ///< Arrived without its payload
        TRIMMED_AT_LAST_HOP, ///< The same, and the path was not at fault
        OVERTAKEN,           ///< Taken for lost because later ones have arrived
        TIMED_OUT,           ///< Taken for lost after a timeout
    };

    uint64_t rttPs;   ///< Age of the packet that is answered, 0 if nothing is [ps]
    PortId port;      ///< By which it left the host, NO_PORT if that is not known
    uint16_t entropy; ///< It was sent with
    Fate fate;
};

/**
 * @ingroup fabric
 * @brief Contract: the entropy that a sending host writes into each packet.
 *
 * One object per transport endpoint; `slot` names one of its flows and is used again after Close.
 */
class PathSelector : public Plugin
{
  public:
    static constexpr uint32_t ALL_ENTROPIES = 1U << 16;
    static constexpr uint32_t ONE_FOR_EACH_PATH = 0;

    /// What does not change once the attributes are set.
    struct Traits
    {
        bool needsReports{false};          ///< Report is called; it costs the memory of each path
        uint32_t entropies{ALL_ENTROPIES}; ///< That packets of a flow have, or ONE_FOR_EACH_PATH
        bool keepsOrder{entropies == 1};   ///< A flow leaves one entropy for another after a pause
                                           ///< alone, so that its packets stay in order
    };

    static TypeId GetTypeId();

    virtual Traits GetTraits() const
    {
        return {};
    }

    virtual void Attach(
        HostContext& host); ///< Called once, before anything else; default: keeps it

    virtual void Open(uint32_t slot, uint32_t message) = 0; ///< A flow begins
    virtual void Close(uint32_t slot);                      ///< A flow has ended
    /// @return entropy of the next packet to send, by this port of the host
    virtual uint16_t Next(uint32_t slot, PortId port) = 0;
    virtual void Report(uint32_t slot, const PathReport& report); ///< See PathReport
    /// @return entropy of a flow that keeps to one path, none otherwise; needs no Open
    virtual std::optional<uint16_t> Constant(uint32_t message) const;

  protected:
    HostContext& Host() const
    {
        return *m_host;
    }

  private:
    HostContext* m_host{nullptr};
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_PATH_SELECTOR_H
