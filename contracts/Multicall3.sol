// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

/// @notice The part of Multicall3 that batches calls into one transaction, for a local chain: public chains have the whole of it
/// at 0xcA11bde05977b3631167028862bE2a173976CA11.
/// @dev Its code is copied to that address, so that nothing may depend on storage that the constructor writes.
contract Multicall3 {
    struct Call3 {
        address target;
        bool allowFailure;
        bytes callData;
    }

    struct Result {
        bool success;
        bytes returnData;
    }

    error CallFailed(uint256 index);

    function aggregate3(Call3[] calldata calls) external payable returns (Result[] memory results) {
        results = new Result[](calls.length);
        for (uint256 index = 0; index < calls.length; index++) {
            Call3 calldata one = calls[index];
            (bool success, bytes memory returnData) = one.target.call(one.callData);
            require(success || one.allowFailure, CallFailed(index));
            results[index] = Result(success, returnData);
        }
    }
}
