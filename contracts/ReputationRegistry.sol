// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

interface IIdentityRegistry {
    function isAuthorizedOrOwner(address spender, uint256 agentId) external view returns (bool);
}

/// @notice ERC-8004's Reputation Registry for a local chain, written from the text of the ERC. As on the deployed registry, an
/// agent's owner and operators may not rate it, a summary needs a list of clients, its average is truncated, and calls are rejected
/// for the same reasons.
contract ReputationRegistry {
    event NewFeedback(
        uint256 indexed agentId,
        address indexed clientAddress,
        uint64 feedbackIndex,
        int128 value,
        uint8 valueDecimals,
        string indexed indexedTag1,
        string tag1,
        string tag2,
        string endpoint,
        string feedbackURI,
        bytes32 feedbackHash
    );
    event FeedbackRevoked(uint256 indexed agentId, address indexed clientAddress, uint64 indexed feedbackIndex);
    event ResponseAppended(
        uint256 indexed agentId,
        address indexed clientAddress,
        uint64 feedbackIndex,
        address indexed responder,
        string responseURI,
        bytes32 responseHash
    );

    struct Feedback {
        int128 value;
        uint8 valueDecimals;
        bool isRevoked;
        string tag1;
        string tag2;
    }

    uint8 private constant MAX_DECIMALS = 18;
    /// @dev With it, a sum of values of 18 decimals stays far from overflow.
    int128 private constant MAX_ABS_VALUE = 1e38;

    IIdentityRegistry private immutable _identityRegistry;
    /// @dev Index 0 of the feedback is the first; outside, indexes count from 1.
    mapping(uint256 agentId => mapping(address client => Feedback[])) private _feedback;
    mapping(uint256 agentId => address[]) private _clients;

    constructor(IIdentityRegistry identityRegistry) {
        _identityRegistry = identityRegistry;
    }

    function getIdentityRegistry() external view returns (address) {
        return address(_identityRegistry);
    }

    function giveFeedback(
        uint256 agentId,
        int128 value,
        uint8 valueDecimals,
        string memory tag1,
        string memory tag2,
        string memory endpoint,
        string memory feedbackURI,
        bytes32 feedbackHash
    ) external {
        _store(agentId, Feedback(value, valueDecimals, false, tag1, tag2));
        emit NewFeedback(
            agentId,
            msg.sender,
            uint64(_feedback[agentId][msg.sender].length),
            value,
            valueDecimals,
            tag1,
            tag1,
            tag2,
            endpoint,
            feedbackURI,
            feedbackHash
        );
    }

    function revokeFeedback(uint256 agentId, uint64 feedbackIndex) external {
        Feedback storage feedback = _at(agentId, msg.sender, feedbackIndex);
        require(!feedback.isRevoked, "Already revoked");
        feedback.isRevoked = true;
        emit FeedbackRevoked(agentId, msg.sender, feedbackIndex);
    }

    function appendResponse(
        uint256 agentId,
        address clientAddress,
        uint64 feedbackIndex,
        string calldata responseURI,
        bytes32 responseHash
    ) external {
        require(feedbackIndex > 0, "index must be > 0");
        require(bytes(responseURI).length > 0, "Empty URI");
        _at(agentId, clientAddress, feedbackIndex);
        emit ResponseAppended(agentId, clientAddress, feedbackIndex, msg.sender, responseURI, responseHash);
    }

    /// @notice The average of the feedback that is not revoked, by the named clients. An empty tag matches all.
    /// @return count How much feedback matched.
    /// @return summaryValue The average, truncated towards zero.
    /// @return summaryValueDecimals The number of decimals most of the matching feedback has.
    function getSummary(
        uint256 agentId,
        address[] calldata clientAddresses,
        string calldata tag1,
        string calldata tag2
    ) external view returns (uint64 count, int128 summaryValue, uint8 summaryValueDecimals) {
        require(clientAddresses.length > 0, "clientAddresses required");
        int256 sum;
        uint64[] memory used = new uint64[](MAX_DECIMALS + 1);
        for (uint256 i = 0; i < clientAddresses.length; ++i) {
            Feedback[] storage given = _feedback[agentId][clientAddresses[i]];
            for (uint256 j = 0; j < given.length; ++j) {
                if (!_matches(given[j], tag1, tag2)) continue;
                sum += given[j].value * int256(10 ** (MAX_DECIMALS - given[j].valueDecimals));
                ++used[given[j].valueDecimals];
                ++count;
            }
        }
        if (count == 0) return (0, 0, 0);
        summaryValueDecimals = _mostFrequent(used);
        summaryValue =
            int128(sum / int256(uint256(count)) / int256(10 ** uint256(MAX_DECIMALS - summaryValueDecimals)));
    }

    function readFeedback(uint256 agentId, address clientAddress, uint64 feedbackIndex)
        external
        view
        returns (int128 value, uint8 valueDecimals, string memory tag1, string memory tag2, bool isRevoked)
    {
        Feedback storage feedback = _at(agentId, clientAddress, feedbackIndex);
        return (feedback.value, feedback.valueDecimals, feedback.tag1, feedback.tag2, feedback.isRevoked);
    }

    function getClients(uint256 agentId) external view returns (address[] memory) {
        return _clients[agentId];
    }

    function getLastIndex(uint256 agentId, address clientAddress) external view returns (uint64) {
        return uint64(_feedback[agentId][clientAddress].length);
    }

    function _store(uint256 agentId, Feedback memory feedback) private {
        require(feedback.valueDecimals <= MAX_DECIMALS, "too many decimals");
        require(feedback.value >= -MAX_ABS_VALUE && feedback.value <= MAX_ABS_VALUE, "value too large");
        require(!_identityRegistry.isAuthorizedOrOwner(msg.sender, agentId), "Self-feedback not allowed");
        Feedback[] storage given = _feedback[agentId][msg.sender];
        if (given.length == 0) _clients[agentId].push(msg.sender);
        given.push(feedback);
    }

    function _at(uint256 agentId, address client, uint64 index) private view returns (Feedback storage) {
        Feedback[] storage given = _feedback[agentId][client];
        require(index > 0, "index must be > 0");
        require(index <= given.length, "index out of bounds");
        return given[index - 1];
    }

    function _matches(Feedback storage feedback, string calldata tag1, string calldata tag2) private view returns (bool) {
        return !feedback.isRevoked && _sameOrAny(tag1, feedback.tag1) && _sameOrAny(tag2, feedback.tag2);
    }

    function _sameOrAny(string calldata wanted, string memory actual) private pure returns (bool) {
        return bytes(wanted).length == 0 || keccak256(bytes(wanted)) == keccak256(bytes(actual));
    }

    function _mostFrequent(uint64[] memory used) private pure returns (uint8 best) {
        for (uint8 decimals = 1; decimals < used.length; ++decimals) {
            if (used[decimals] > used[best]) best = decimals;
        }
    }
}
