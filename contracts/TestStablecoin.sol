// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {ERC3009} from "@openzeppelin/contracts/token/ERC20/extensions/draft-ERC3009.sol";
import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";
import {SignatureChecker} from "@openzeppelin/contracts/utils/cryptography/SignatureChecker.sol";

/// @notice A stand-in for USDC on a local chain: 6 decimals, the EIP-712 domain of USDC on Base Sepolia, ERC-3009 with random
/// nonces, and the overloads with `bytes signature` that payment facilitators call. Anybody may mint: it is worth nothing.
/// @dev Its code is copied to another address, so that nothing may depend on storage that the constructor writes.
contract TestStablecoin is ERC3009 {
    constructor() ERC20("", "") EIP712("USDC", "2") {}

    function name() public pure override returns (string memory) {
        return "USDC";
    }

    function symbol() public pure override returns (string memory) {
        return "USDC";
    }

    function decimals() public pure override returns (uint8) {
        return 6;
    }

    /// @dev Part of FiatTokenV2, read by payment clients to build the EIP-712 domain.
    function version() external pure returns (string memory) {
        return "2";
    }

    function mint(address to, uint256 value) external {
        _mint(to, value);
    }

    /// @dev FiatTokenV2_2: contract wallets sign through this overload too, by ERC-1271.
    function transferWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) public override {
        bytes memory signature = abi.encodePacked(r, s, v);
        bytes32 typeHash = TRANSFER_WITH_AUTHORIZATION_TYPEHASH;
        _checkSignature(typeHash, from, to, value, validAfter, validBefore, nonce, signature);
        _transferWithAuthorization(from, to, value, validAfter, validBefore, nonce);
    }

    /// @dev FiatTokenV2_2: accepts ECDSA signatures of 65 bytes and ERC-1271 ones.
    function transferWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes calldata signature
    ) external {
        _checkSignature(TRANSFER_WITH_AUTHORIZATION_TYPEHASH, from, to, value, validAfter, validBefore, nonce, signature);
        _transferWithAuthorization(from, to, value, validAfter, validBefore, nonce);
    }

    /// @dev FiatTokenV2_2: only the payee may call it.
    function receiveWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes calldata signature
    ) external {
        _checkSignature(RECEIVE_WITH_AUTHORIZATION_TYPEHASH, from, to, value, validAfter, validBefore, nonce, signature);
        require(to == _msgSender(), ERC20InvalidReceiver(to));
        _transferWithAuthorization(from, to, value, validAfter, validBefore, nonce);
    }

    function _checkSignature(
        bytes32 typeHash,
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes memory signature
    ) private view {
        bytes32 hash = _hashTypedDataV4(keccak256(abi.encode(typeHash, from, to, value, validAfter, validBefore, nonce)));
        require(SignatureChecker.isValidSignatureNow(from, hash, signature), ERC3009InvalidSignature());
    }
}
