// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

/// @notice Reverts every call with the same data, such as an `OffchainLookup` (EIP-3668) or an `Error(string)`.
contract RevertingContract {
    bytes private revertData;

    constructor(bytes memory data) {
        revertData = data;
    }

    fallback() external {
        bytes memory data = revertData;
        assembly {
            revert(add(data, 32), mload(data))
        }
    }
}
