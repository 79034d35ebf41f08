// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {AgenticCommerce} from "../AgenticCommerce.sol";

/// @notice Jobs whose evaluator may be the zero address, as the SDK of a marketplace creates them by default: `submit` completes and pays
/// such a job. With `payOnSubmit` unset it does not, like a version that changed behind a proxy.
contract EvaluatorlessCommerce is AgenticCommerce {
    using SafeERC20 for IERC20;

    bool public immutable payOnSubmit;

    constructor(IERC20 token, bool payOnSubmit_) AgenticCommerce(token) {
        payOnSubmit = payOnSubmit_;
    }

    function createJob(
        address provider,
        address evaluator,
        uint256 expiredAt,
        string calldata description,
        address hook
    ) external override returns (uint256 jobId) {
        if (expiredAt <= block.timestamp + 5 minutes) revert ExpiryTooShort();
        jobId = ++jobCounter;
        jobs[jobId] = Job(jobId, msg.sender, provider, evaluator, description, 0, expiredAt, JobStatus.Open, hook);
        emit JobCreated(jobId, msg.sender, provider, evaluator, expiredAt, hook);
    }

    function submit(uint256 jobId, bytes32 deliverable, bytes calldata) external override nonReentrant {
        Job storage job = _jobIn(jobId, JobStatus.Funded);
        if (msg.sender != job.provider) revert Unauthorized();
        job.status = JobStatus.Submitted;
        emit JobSubmitted(jobId, msg.sender, deliverable);
        if (job.evaluator != address(0) || !payOnSubmit) return;
        job.status = JobStatus.Completed;
        paymentToken.safeTransfer(job.provider, job.budget);
        emit JobCompleted(jobId, address(0), bytes32(0));
        emit PaymentReleased(jobId, job.provider, job.budget);
    }
}
