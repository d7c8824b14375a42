// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_TYPE_CHOICE_H
#define FABRIC_TYPE_CHOICE_H

#include "plugin.h"

#include "ns3/abort.h"
#include "ns3/attribute-helper.h"

#include <iosfwd>
#include <string>

namespace ns3
{

/**
 * @ingroup fabric
 * @brief Value of an attribute that names a type of a contract, with attributes of its own, in
 * ns-3's factory notation: "ns3::PermutedEntropy" or "ns3::PermutedEntropy[Paths=64]".
 *
 * Like ObjectFactoryValue, but its checker knows the contract, so a type of another kind is refused
 * where it is said; and its default may lie in a library that is not loaded yet.
 */
class TypeChoice
{
  public:
    TypeChoice() = default;

    explicit TypeChoice(std::string text)
        : m_text(std::move(text))
    {
    }

    bool IsSet() const
    {
        return !m_text.empty();
    }

    const std::string& Text() const
    {
        return m_text;
    }

    /**
     * Make the object that is chosen.
     * @tparam T contract of the attribute
     * @param where type and attribute, for the message
     */
    template <typename T>
    Ptr<T> Create(const std::string& where) const
    {
        return fabric::MakePlugin<T>(Factory(where));
    }

    /// @return whether the text names a loaded type of a contract and attributes that it has
    bool IsA(TypeId contract) const;

  private:
    ObjectFactory Factory(const std::string& where) const; ///< Abort if it is not loaded

    std::string m_text;
};

std::ostream& operator<<(std::ostream& out, const TypeChoice& choice);
std::istream& operator>>(std::istream& in, TypeChoice& choice);

ATTRIBUTE_VALUE_DEFINE(TypeChoice);
ATTRIBUTE_ACCESSOR_DEFINE(TypeChoice);

/// Checks that a TypeChoice is empty or of one contract.
class TypeChoiceChecker : public AttributeChecker
{
};

/// @return checker for choices of a contract, whose name is its underlying type information
Ptr<const AttributeChecker> MakeTypeChoiceChecker(TypeId contract);

template <typename Contract>
Ptr<const AttributeChecker>
MakeTypeChoiceChecker()
{
    return MakeTypeChoiceChecker(Contract::GetTypeId());
}

} // namespace ns3

#endif // FABRIC_TYPE_CHOICE_H
