// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/test.h"

/// Run or list the test suites of every module that is linked in (--help tells how).
int
main(int argc, char* argv[])
{
    return ns3::TestRunner::Run(argc, argv);
}
