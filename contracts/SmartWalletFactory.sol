// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

import {SmartWallet} from "./SmartWallet.sol";

/// @notice Deploys wallets at addresses that are known before (CREATE2), so that they can hold money and sign (ERC-6492) before they exist.
contract SmartWalletFactory {
    /// @dev Returns a wallet that is there, so that a deployment can be repeated.
    function createAccount(address owner, uint256 salt) external returns (address account) {
        account = getAddress(owner, salt);
        if (account.code.length == 0) new SmartWallet{salt: bytes32(salt)}(owner);
    }

    function getAddress(address owner, uint256 salt) public view returns (address) {
        bytes32 code = keccak256(abi.encodePacked(type(SmartWallet).creationCode, abi.encode(owner)));
        return address(uint160(uint256(keccak256(abi.encodePacked(bytes1(0xff), address(this), bytes32(salt), code)))));
    }
}
