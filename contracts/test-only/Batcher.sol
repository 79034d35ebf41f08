// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

/// @notice Several calls in one transaction, all or none.
contract Batcher {
    struct Call {
        address to;
        bytes data;
    }

    function run(Call[] calldata calls) external {
        for (uint256 i = 0; i < calls.length; i++) {
            (bool done, ) = calls[i].to.call(calls[i].data);
            require(done, "a call failed");
        }
    }
}
