// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_BUILDER_H
#define FABRIC_BUILDER_H

#include "fabric-options.h"
#include "links.h"

#include <functional>
#include <vector>

namespace ns3
{
namespace fabric
{

/**
 * @ingroup fabric
 * @brief Fills the parts of an engine: plug-ins by class, transports, routes, lanes of events.
 */
class FabricBuilder
{
  public:
    FabricBuilder(const FabricOptions& options,
                  EngineState& state,
                  PluginClasses& classes,
                  const Links::Parts& parts,
                  Boundary* boundary);

    /**
     * @param tables sorted
     * @param links carry out the orders of link flow control
     * @param programs carry out the orders of switch programs
     * @param first messages of the first of several engines, null for that one
     */
    void Build(const FabricTables& tables,
               LinkActions& links,
               ProgramActions& programs,
               const MessageTable* first);

  private:
    void BuildClasses(LinkActions& links, ProgramActions& programs);
    void BuildLinkClass(const LinkClassOptions& options, uint8_t linkClass, LinkActions& actions);
    void BuildNodeClass(const NodeClassOptions& options, ProgramActions& actions);
    uint32_t AddTimers(SwitchProgram* program, LinkFlowControl* control, uint32_t n);
    void AttachPlugins();
    void CheckClasses() const;
    void CheckCombinations() const;
    void CheckTelemetry() const;
    void CheckMarks() const;

    const FabricOptions& m_options;
    EngineState& m_state;
    Port* m_ports; ///< Of the network
    PluginClasses& m_classes;
    Wires& m_wires;
    Nic& m_nic;
    Switching& m_switching;
    Boundary* m_boundary; ///< Null: the engine is alone
    bool m_hasAskTimers{false};
    std::vector<std::function<void()>> m_attach; ///< Plug-ins to attach when all is built
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_BUILDER_H
