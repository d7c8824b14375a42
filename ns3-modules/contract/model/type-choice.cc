// SPDX-License-Identifier: GPL-2.0-only

#include "type-choice.h"

#include "ns3/string.h"

#include <sstream>

namespace ns3
{

ATTRIBUTE_VALUE_IMPLEMENT(TypeChoice);

namespace
{

std::string
NameIn(const std::string& text)
{
    return text.substr(0, text.find('['));
}

/// Set the attributes in brackets. @return the first that cannot be, empty if all can
std::string
SetInner(ObjectFactory& factory, const std::string& text)
{
    const size_t open = text.find('[');
    if (open == std::string::npos)
    {
        return "";
    }
    if (text.back() != ']')
    {
        return text.substr(open);
    }
    std::istringstream pairs(text.substr(open + 1, text.size() - open - 2));
    for (std::string pair; std::getline(pairs, pair, '|');)
    {
        const size_t equals = pair.find('=');
        TypeId::AttributeInformation info;
        if (equals == std::string::npos ||
            !factory.GetTypeId().LookupAttributeByName(pair.substr(0, equals), &info) ||
            !info.checker->CreateValidValue(StringValue(pair.substr(equals + 1))))
        {
            return pair;
        }
        factory.Set(pair.substr(0, equals), StringValue(pair.substr(equals + 1)));
    }
    return "";
}

/// See MakeTypeChoiceChecker.
class ContractChecker final : public TypeChoiceChecker
{
  public:
    explicit ContractChecker(TypeId contract)
        : m_contract(contract)
    {
    }

    bool Check(const AttributeValue& value) const override
    {
        const auto* choice = dynamic_cast<const TypeChoiceValue*>(&value);
        return choice && (!choice->Get().IsSet() || choice->Get().IsA(m_contract));
    }

    std::string GetValueTypeName() const override
    {
        return "ns3::TypeChoiceValue";
    }

    bool HasUnderlyingTypeInformation() const override
    {
        return true;
    }

    std::string GetUnderlyingTypeInformation() const override
    {
        return m_contract.GetName();
    }

    Ptr<AttributeValue> Create() const override
    {
        return ns3::Create<TypeChoiceValue>();
    }

    bool Copy(const AttributeValue& source, AttributeValue& destination) const override
    {
        const auto* from = dynamic_cast<const TypeChoiceValue*>(&source);
        auto* to = dynamic_cast<TypeChoiceValue*>(&destination);
        if (!from || !to)
        {
            return false;
        }
        *to = *from;
        return true;
    }

  private:
    TypeId m_contract;
};

} // namespace

bool
TypeChoice::IsA(TypeId contract) const
{
    TypeId tid;
    if (!TypeId::LookupByNameFailSafe(NameIn(m_text), &tid) || !tid.IsChildOf(contract) ||
        !tid.HasConstructor())
    {
        return false;
    }
    ObjectFactory factory;
    factory.SetTypeId(tid);
    return SetInner(factory, m_text).empty();
}

ObjectFactory
TypeChoice::Factory(const std::string& where) const
{
    TypeId tid;
    NS_ABORT_MSG_IF(!IsSet(), where << ": no type is chosen, or that of its default is not loaded");
    NS_ABORT_MSG_IF(!TypeId::LookupByNameFailSafe(NameIn(m_text), &tid),
                    where << ": there is no type '" << NameIn(m_text)
                          << "' in the loaded libraries");
    ObjectFactory factory;
    factory.SetTypeId(tid);
    const std::string wrong = SetInner(factory, m_text);
    NS_ABORT_MSG_IF(!wrong.empty(),
                    where << ": " << tid.GetName() << " cannot have '" << wrong << "'");
    return factory;
}

std::ostream&
operator<<(std::ostream& out, const TypeChoice& choice)
{
    return out << choice.Text();
}

std::istream&
operator>>(std::istream& in, TypeChoice& choice)
{
    std::string text;
    std::getline(in, text);
    choice = TypeChoice(text);
    in.clear(in.rdstate() & ~std::ios::failbit); // an empty text is a choice too
    return in;
}

Ptr<const AttributeChecker>
MakeTypeChoiceChecker(TypeId contract)
{
    return Create<ContractChecker>(contract);
}

} // namespace ns3
