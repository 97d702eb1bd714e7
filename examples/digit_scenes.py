"""
Pictures, with a network of your own
====================================

A small convolutional network is trained end to end on generated scenes of handwritten digits.
Only seven of the ten digits are predicted from the pictures; the others are recovered, because
some digits tend to appear together. Below the pictures, landmarks are red, other correct labels
green, missed ones grey and wrong ones black.
"""

import pandas as pd
import torch
from torch import nn

from splmll import SPLMLL, evaluate, load_dataset
from splmll.embeddings import TorchModule
from splmll.plots import PredictionsDisplay

scenes = load_dataset("digit-scenes")
images, labels = scenes.images, pd.DataFrame(scenes.Y, columns=scenes.label_names)
train, test = scenes.train[:1500], scenes.test
torch.manual_seed(0)
network = nn.Sequential(
    nn.Conv2d(1, 12, 3, padding=1),
    nn.BatchNorm2d(12),
    nn.ReLU(),
    nn.MaxPool2d(2),
    nn.Conv2d(12, 48, 4),
    nn.ReLU(),
    nn.AdaptiveMaxPool2d(1),  # the position of a digit does not matter
    nn.Flatten(),
    nn.Linear(48, labels.shape[1]),
)
embedding = TorchModule(network, max_epochs=14, learning_rate=4e-3)
model = SPLMLL(embedding, n_landmarks=7, cv=2, random_state=0)
model.fit(images[train], labels.iloc[train])
PredictionsDisplay.from_estimator(model, images[test[:12]], labels.iloc[test[:12]])

# %%
predicted = model.predict(images[test])
measures = evaluate(labels.iloc[test], model.decision_function(images[test]), predicted)
print(f"{len(train)} pictures to learn from, {len(test)} to test on")
print(pd.Series(measures).round(3).to_string())
print(f"landmarks (7 of {labels.shape[1]}):", *model.landmarks_)
