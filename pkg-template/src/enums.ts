/** How an evaluation ended. */
export enum EvalStatus {
  /** The score reaches the threshold. */
  PASSED = 1,
  /** It does not. */
  FAILED = 2,
  /** There is no score; `reason` says why. */
  NOT_EVALUATED = 3,
  /** There is a value that neither passes nor fails. */
  INFORMATIONAL = 4,
}

/** The names of all metrics: those of ADK-TS with its values, and the other metrics of google-adk. */
export enum PrebuiltMetrics {
  TOOL_TRAJECTORY_AVG_SCORE = "tool_trajectory_avg_score",
  RESPONSE_EVALUATION_SCORE = "response_evaluation_score",
  RESPONSE_MATCH_SCORE = "response_match_score",
  SAFETY_V1 = "safety_v1",
  FINAL_RESPONSE_MATCH_V2 = "final_response_match_v2",
  /** ADK-TS's old name of `TOOL_TRAJECTORY_AVG_SCORE`. */
  TOOL_TRAJECTORY_SCORE = "tool_trajectory_score",
  /** ADK-TS's old name of `SAFETY_V1`. */
  SAFETY = "safety",
  /** ADK-TS's old name of `RESPONSE_MATCH_SCORE`. */
  RESPONSE_MATCH = "response_match",
  RUBRIC_BASED_FINAL_RESPONSE_QUALITY_V1 = "rubric_based_final_response_quality_v1",
  RUBRIC_BASED_TOOL_USE_QUALITY_V1 = "rubric_based_tool_use_quality_v1",
  RUBRIC_BASED_MULTI_TURN_TRAJECTORY_QUALITY_V1 = "rubric_based_multi_turn_trajectory_quality_v1",
  HALLUCINATIONS_V1 = "hallucinations_v1",
  PER_TURN_USER_SIMULATOR_QUALITY_V1 = "per_turn_user_simulator_quality_v1",
  MULTI_TURN_TASK_SUCCESS_V1 = "multi_turn_task_success_v1",
  MULTI_TURN_TRAJECTORY_QUALITY_V1 = "multi_turn_trajectory_quality_v1",
  MULTI_TURN_TOOL_USE_QUALITY_V1 = "multi_turn_tool_use_quality_v1",
  TOOL_CALL_COUNT_V1 = "tool_call_count_v1",
  INFERENCE_CALL_COUNT_V1 = "inference_call_count_v1",
  TOKEN_USAGE_V1 = "token_usage_v1",
  INVOCATION_DURATION_V1 = "invocation_duration_v1",
  TOOL_PARAMETER_MATCH = "tool_parameter_match",
  TOOL_TRAJECTORY_F1 = "tool_trajectory_f1",
}
