// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

import {IERC1271} from "@openzeppelin/contracts/interfaces/IERC1271.sol";
import {SignatureChecker} from "@openzeppelin/contracts/utils/cryptography/SignatureChecker.sol";

/// @notice A contract wallet of one owner on a local chain: it signs by ERC-1271 and calls what its owner asks for.
contract SmartWallet is IERC1271 {
    address public immutable OWNER;

    error NotOwner();

    constructor(address owner) {
        OWNER = owner;
    }

    receive() external payable {}

    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4) {
        return SignatureChecker.isValidSignatureNow(OWNER, hash, signature) ? IERC1271.isValidSignature.selector : bytes4(0xffffffff);
    }

    function execute(address target, uint256 value, bytes calldata data) external returns (bytes memory) {
        require(msg.sender == OWNER, NotOwner());
        (bool success, bytes memory result) = target.call{value: value}(data);
        if (success) return result;
        assembly ("memory-safe") {
            revert(add(result, 32), mload(result))
        }
    }
}
