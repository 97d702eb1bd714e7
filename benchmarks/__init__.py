"""Speed as ratios beside peers and accuracy on real data; what ``make bench`` runs, in order."""

# On speed and scale: their numbers are one table of the documentation.
SCALE = (
    "ridge_speed",
    "landmark_speed",
    "linear_peers_speed",
    "text_speed",
    "many_labels_speed",
    "pass_rate",
    "growth",
    "memory_use",
    "prediction_speed",
    "service_load",
)
SCRIPTS = (
    *SCALE,
    "streamed_text",
    "annotation_page",
    "past_one_machine",
    "model_file_memory",
    "import_speed",
    "metrics_speed",
    "stratification_speed",
    "method_speed",
    "label_set_speed",
    "label_embedding_speed",
    "low_rank_speed",
)
