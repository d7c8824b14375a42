// SPDX-License-Identifier: GPL-2.0-only

#ifndef CONTRACT_VERSION_H
#define CONTRACT_VERSION_H

/**
 * @ingroup fabric
 * @brief Version of everything that a module outside of pyorch may use: the headers of `contract`
 * and `host`, and the columns of results.
 *
 * It grows when a module that compiles, and gives right results, would no longer do so. A new
 * method with a default, a new contract, attribute or column does not change it.
 */
#define FABRIC_CONTRACT_VERSION 1

#endif // CONTRACT_VERSION_H
