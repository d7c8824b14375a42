// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_PLUGIN_H
#define FABRIC_PLUGIN_H

#include "ns3/object-factory.h"
#include "ns3/object.h"

#include <string>

namespace ns3
{
namespace fabric
{

/**
 * @ingroup fabric
 * @brief What a scenario chooses by its TypeId: the base of all contracts.
 */
class Plugin : public Object
{
  public:
    static TypeId GetTypeId();

    /**
     * Abort unless the attributes fit together, with a message that begins with Name() of one of
     * them and goes on with its value and what is allowed.
     *
     * Asked of every new object, also of one that is made for the question alone, before any run:
     * what a class derives from its attributes it derives elsewhere. Ranges of single attributes
     * belong to their checkers.
     */
    virtual void Check() const;

  protected:
    /// @return type and attribute, as messages begin: "ns3::RedEcn: KminBytes"
    std::string Name(const std::string& attribute) const;
};

/// Make a plug-in and check it: the one way in which a run makes any.
template <typename T>
Ptr<T>
MakePlugin(const ObjectFactory& factory)
{
    const auto plugin = factory.Create<T>();
    plugin->Check();
    return plugin;
}

} // namespace fabric
} // namespace ns3

#endif // FABRIC_PLUGIN_H
